"""One line of source as it is shown: safe characters, cropped around what matters, and where that stands."""

from __future__ import annotations

from itertools import accumulate
from typing import NamedTuple

from trainlint.output.printable import printable, width

_MORE = "..."


class Excerpt(NamedTuple):
    text: str
    indent: int
    """Cells before the underline."""
    underline: int
    """Cells of the underline; at least one."""


def excerpt(line: str, start: int, end: int, room: int, beside: int = 0) -> Excerpt:
    """At most `room` cells of `line`, with its characters from `start` up to `end` underlined.

    Args:
        beside: cells that are wanted behind the underline, for what is said of it.
    """
    characters = [printable(character) for character in line]
    edges = [0, *accumulate(sum(map(width, shown)) for shown in characters)]
    start = max(0, min(start, len(line)))
    end = max(start, min(end, len(line)))
    first, last = _window(edges, start, end, room, beside)
    before = _MORE if first else ""
    after = _MORE if last < len(line) else ""
    return Excerpt(
        before + "".join(characters[first:last]) + after,
        len(before) + edges[start] - edges[first],
        max(1, min(edges[end], edges[last]) - edges[start]),
    )


def _window(edges: list[int], start: int, end: int, room: int, beside: int) -> tuple[int, int]:
    """First and last edge of the characters to show: those before the underline too, as far as the rest leaves room."""
    if edges[-1] <= room:
        return 0, len(edges) - 1
    first = 0
    if edges[end] > room - len(_MORE):
        near = next(at for at, edge in enumerate(edges) if edges[start] - edge <= room // 4)
        wanted = max(edges[-1], edges[end] + beside) - (room - len(_MORE))
        first = min(near, next(at for at, edge in enumerate(edges) if edge >= min(wanted, edges[near])))
    cells = room - (len(_MORE) if first else 0)
    if edges[-1] - edges[first] > cells:
        cells -= len(_MORE)
    last = max(at for at, edge in enumerate(edges) if edge - edges[first] <= cells)
    return first, last
