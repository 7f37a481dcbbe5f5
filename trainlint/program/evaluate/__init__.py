"""Small trees to values and events: statements, expressions, calls, conditions, entry points."""
