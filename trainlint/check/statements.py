"""The statements of a text, and the comments in and before each."""

from __future__ import annotations

import io
import tokenize
from collections.abc import Iterator
from typing import NamedTuple

_BETWEEN = {tokenize.ENCODING, tokenize.NL, tokenize.INDENT, tokenize.DEDENT}


class Commented(NamedTuple):
    """A statement's first and last line, and the comments since the one before it. Of those behind the last statement, the
    first line is 0."""

    first: int
    last: int
    comments: tuple[tokenize.TokenInfo, ...]


def commented(raw: bytes) -> Iterator[Commented]:
    """The statements with comments; those before the error, if Python cannot read the text."""
    waiting: list[tokenize.TokenInfo] = []
    first = 0
    try:
        for token in tokenize.tokenize(io.BytesIO(raw).readline):
            if token.type == tokenize.COMMENT:
                waiting.append(token)
            elif token.type in (tokenize.NEWLINE, tokenize.ENDMARKER):
                if waiting:
                    yield Commented(first, token.start[0], tuple(waiting))
                waiting, first = [], 0
            elif token.type not in _BETWEEN and not first:
                first = token.start[0]
    except (tokenize.TokenError, SyntaxError):
        return
