"""Starting somebody else's program as Python would, and ending it."""
