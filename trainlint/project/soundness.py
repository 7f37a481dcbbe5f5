"""Whether Python itself accepts a text, what it says if not, and what it makes of it: a quick look that needs nothing but
Python."""

from __future__ import annotations

import ast
import re
import warnings
from typing import NamedTuple

from trainlint.project.encodings import adds_syntax

_LINES = re.compile(r" on line \d+| \(detected at line \d+\)")
"""Lines that Python speaks of. What is read may stand elsewhere, as the cell of a notebook does."""


class Complaint(NamedTuple):
    """What Python says of a text, and the line that it points at, where it knows one."""

    message: str
    line: int | None = None


def complaint(text: str | bytes) -> Complaint | None:
    """Why Python rejects a text; None if it does not."""
    if isinstance(text, bytes) and adds_syntax(text):
        text = text.decode("utf-8-sig", errors="replace")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ast.parse(text)
        except SyntaxError as error:
            return Complaint(_LINES.sub("", error.msg), error.lineno)
        except (ValueError, RecursionError, MemoryError) as error:
            return Complaint(str(error))
    return None


def parses(text: str | bytes) -> bool:
    return complaint(text) is None


def tree(text: str | bytes) -> ast.Module:
    """The syntax tree of a text. What this Python does not accept holds nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return ast.Module(body=[], type_ignores=[])
