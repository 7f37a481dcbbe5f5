"""Fixes from a rule's proposal to the text of a file."""
