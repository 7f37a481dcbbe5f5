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


def excerpt(line: str, start: int, end: int, room: int) -> Excerpt:
    """At most `room` cells of `line`, with its characters from `start` up to `end` underlined."""
    characters = [printable(character) for character in line]
    edges = [0, *accumulate(sum(map(width, shown)) for shown in characters)]
    start = max(0, min(start, len(line)))
    end = max(start, min(end, len(line)))
    first, last = _window(edges, start, end, room)
    before = _MORE if first else ""
    after = _MORE if last < len(line) else ""
    return Excerpt(
        before + "".join(characters[first:last]) + after,
        len(before) + edges[start] - edges[first],
        max(1, min(edges[end], edges[last]) - edges[start]),
    )


def _window(edges: list[int], start: int, end: int, room: int) -> tuple[int, int]:
    """First and last edge of the characters to show."""
    if edges[-1] <= room:
        return 0, len(edges) - 1
    first = 0
    if edges[end] > room - len(_MORE):
        first = next(at for at, edge in enumerate(edges) if edges[start] - edge <= room // 4)
    cells = room - len(_MORE) * (2 if first else 1)
    last = max(at for at, edge in enumerate(edges) if edge - edges[first] <= cells)
    return first, last
