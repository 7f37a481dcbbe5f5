"""The last expression of a cell: IPython shows its value, so it is not thrown away."""

from __future__ import annotations

import ast
import warnings


def shows_last(text: str) -> bool:
    """Whether the Python of a cell ends in an expression, and not in a semicolon."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            statements = ast.parse(text).body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return False
    if not statements or not isinstance(statements[-1], ast.Expr):
        return False
    last = statements[-1].value
    assert last.end_lineno is not None and last.end_col_offset is not None
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    rest = lines[last.end_lineno - 1].encode()[last.end_col_offset :].decode()
    return not rest.lstrip(" \t)").startswith(";")
