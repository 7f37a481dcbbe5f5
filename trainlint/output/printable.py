"""Characters as a terminal may show them: nothing that moves the cursor or turns the text around."""

from __future__ import annotations

import re
import unicodedata

# Controls, line and paragraph separators, marks and overrides of direction, halves of a pair, no characters, and what is
# not seen at all. Joiners stay: emoji and several scripts are written with them.
_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u206f"
    "\ud800-\udfff\ufeff\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e007f]"
)


def printable(text: str) -> str:
    """`text` with every unsafe character written as an escape, and tabs as four spaces."""
    return _UNSAFE.sub(_escape, text)


def width(character: str) -> int:
    """How many cells of a terminal one safe character takes."""
    if character.isascii():
        return 1
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def cells(text: str) -> int:
    """How many a safe text takes."""
    return len(text) if text.isascii() else sum(map(width, text))


def _escape(match: re.Match[str]) -> str:
    return "    " if match[0] == "\t" else ascii(match[0])[1:-1]
