"""libcst's tree of one file to the small tree of `syntax`, in one walk."""

from __future__ import annotations

import re
import warnings
from typing import TYPE_CHECKING

from trainlint.program.source import syntax as s
from trainlint.program.source.nesting import too_deep
from trainlint.program.source.parser import nodes as cst
from trainlint.program.source.parser import parse
from trainlint.program.source.read_statements import Reader
from trainlint.program.source.room import deep, uncollected
from trainlint.program.source.unreadable import Unreadable
from trainlint.project.soundness import complaint, parses

if TYPE_CHECKING:
    import libcst as cst

_PREFIX = re.compile(r"^parser error: error at \d+:\d+: ")
_TABS = re.compile(r"^ *\t[ \t]*", re.MULTILINE)
"""Indentations with a tab."""


def read(text: str) -> s.Module:
    """Parse a file's text. Raises `Unreadable`."""
    line = too_deep(text)
    if line is not None:
        raise Unreadable("nested too deeply to be read", line)
    try:
        with deep(), uncollected(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python's own, about escapes in the strings of the file
            return Reader(text).module(_tree(text))
    except cst.ParserSyntaxError as error:
        raise _rejected(text, error) from None
    except RecursionError:
        raise Unreadable("nested too deeply to be read", None) from None


def _tree(text: str) -> cst.Module:
    """Python takes a tab in an indentation for as many spaces as lead to the next multiple of eight, libcst does not. The
    places of a tree's leaves do not depend on that: the text is asked for them."""
    try:
        return parse(text)
    except cst.ParserSyntaxError:
        spaced = _TABS.sub(lambda found: found.group().expandtabs(8), text)
        if spaced == text or not parses(text):
            raise
        return parse(spaced)


def _rejected(text: str, error: cst.ParserSyntaxError) -> Unreadable:
    """In Python's words, where it rejects the text too: they say more, and point at the very line."""
    said = complaint(text)
    if said is None or said.line is None:
        return Unreadable(f"syntax error: {_PREFIX.sub('', error.message)}", error.raw_line)
    return Unreadable(f"syntax error: {said.message}", said.line)
