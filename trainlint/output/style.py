"""Text in pieces that carry their meaning, so that a terminal can colour what a file holds plainly."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

Meaning = Literal["", "error", "warning", "info", "related", "gutter", "strong"]


class Piece(NamedTuple):
    text: str
    meaning: Meaning = ""


def plain(pieces: Iterable[Piece]) -> str:
    return "".join(piece.text for piece in pieces)


def coloured(pieces: Iterable[Piece]) -> str:
    """The pieces with the escape sequences of a colour terminal."""
    import typer

    colours = {"error": "red", "warning": "yellow", "info": "cyan", "related": "blue", "gutter": "blue"}
    return "".join(
        typer.style(piece.text, fg=colours.get(piece.meaning), bold=True) if piece.meaning else piece.text
        for piece in pieces
    )
