"""Lines of words that fit a terminal: a line that goes on is indented below the one that begins it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from trainlint.output.printable import cells
from trainlint.output.style import Piece

_HANGING = 4
_FEWEST = 10
"""Cells for words, however far a line is indented."""
_WORDS = re.compile(r" +|[^ ]+")


def wrapped(pieces: Iterable[Piece], columns: int | None) -> Iterator[Piece]:
    """The pieces with their lines of words wrapped; lines that begin with a number or bar of source stay as they are."""
    line: list[Piece] = []
    for piece in pieces:
        first, *rest = piece.text.split("\n")
        line.append(piece._replace(text=first))
        for text in rest:
            yield from _wrapped_line(line, columns)
            yield Piece("\n")
            line = [piece._replace(text=text)]
    yield from _wrapped_line(line, columns)


def _wrapped_line(line: list[Piece], columns: int | None) -> Iterator[Piece]:
    filled = [piece for piece in line if piece.text]
    if not filled:
        return
    whole = "".join(piece.text for piece in filled)
    if columns is None or filled[0].meaning == "gutter" or cells(whole) <= columns:
        yield from filled
        return
    margin = len(whole) - len(whole.lstrip(" "))
    yield from wrapped_words(filled, columns, Piece(" " * (margin + _HANGING)))


def wrapped_words(pieces: Iterable[Piece], columns: int, *margin: Piece, at: int = 0) -> Iterator[Piece]:
    """Words from column `at` on, each on the next line where it does not fit; no word is cut.

    Args:
        margin: what a line begins with that goes on.
    """
    begin = sum(cells(piece.text) for piece in margin)
    edge = max(columns, begin + _FEWEST)
    gap = Piece("")
    for word in _words(pieces):
        if not word[0].text.strip():
            [gap] = word
            continue
        size = sum(cells(piece.text) for piece in word)
        if gap.text and at and at + len(gap.text) + size > edge:
            yield Piece("\n")
            yield from margin
            at, gap = begin, Piece("")
        at += len(gap.text) + size
        yield from (piece for piece in (gap, *word) if piece.text)
        gap = Piece("")


def _words(pieces: Iterable[Piece]) -> Iterator[list[Piece]]:
    """Words and the spaces between them; a word may go on in the next piece, as before a comma."""
    word: list[Piece] = []
    for piece in pieces:
        for text in _WORDS.findall(piece.text):
            if text.isspace():
                if word:
                    yield word
                yield [piece._replace(text=text, about=None)]
                word = []
            else:
                word.append(piece._replace(text=text))
    if word:
        yield word
