"""A run becomes facts: the only room that imports torch."""
