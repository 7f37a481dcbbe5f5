"""Whether Python itself accepts a text: a quick look that needs nothing but Python."""

from __future__ import annotations

import ast
import warnings


def parses(text: str | bytes) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return False
    return True
