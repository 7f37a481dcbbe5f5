"""Proposals of rules to edits of source: the second user of libcst beside `read.py`, and only when fixes are asked for."""
