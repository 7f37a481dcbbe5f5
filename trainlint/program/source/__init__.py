"""Bytes to small syntax trees: which files matter, how they are parsed, what is kept of them."""
