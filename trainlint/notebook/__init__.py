"""Notebooks: each is read as one program, and its places are told by cell and line."""
