"""Text in pieces that carry their meaning, so that a terminal can colour what a file holds plainly."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

from trainlint.finding import Place

Meaning = Literal["", "error", "warning", "info", "related", "gutter", "strong"]


class Piece(NamedTuple):
    """
    Args:
        about: what the text names: a rule, by its code, or a place. A terminal makes it a link.
    """

    text: str
    meaning: Meaning = ""
    about: Place | str | None = None


COLOURS: dict[Meaning, str] = {
    "error": "red",
    "warning": "magenta",
    "info": "blue",
    "related": "blue",
    "gutter": "blue",
}
"""Colours of a terminal's own palette that can be read on dark and on light: yellow, green and cyan cannot."""


def plain(pieces: Iterable[Piece]) -> str:
    return "".join(piece.text for piece in pieces)


def coloured(pieces: Iterable[Piece], *, links: bool = False) -> str:
    """The pieces with the escape sequences of a colour terminal.

    Args:
        links: whether what names a rule or a place is a link.
    """
    import typer

    from trainlint.output.links import linked

    def shown(piece: Piece) -> str:
        text = linked(piece.text, piece.about) if links and piece.about is not None else piece.text
        return typer.style(text, fg=COLOURS.get(piece.meaning), bold=True) if piece.meaning else text

    return "".join(map(shown, pieces))
