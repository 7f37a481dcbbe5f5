"""Pieces of text as HTML, for notebooks."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from trainlint.output.style import Piece

_COLOURS = {
    "error": "#c62828",
    "warning": "#a15c00",
    "info": "#00707a",
    "related": "#1a5fb4",
    "gutter": "#1a5fb4",
    "strong": "inherit",
}


def html(pieces: Iterable[Piece]) -> str:
    """One block of preformatted text, coloured by what each piece means."""
    spans = "".join(
        f'<span style="color: {_COLOURS[piece.meaning]}; font-weight: bold">{escape(piece.text)}</span>'
        if piece.meaning
        else escape(piece.text)
        for piece in pieces
    )
    return f'<pre class="trainlint" style="white-space: pre; overflow-x: auto">{spans}</pre>'
