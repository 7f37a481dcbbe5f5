"""A comparison as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainlint.comparing.compare import TOPICS
from trainlint.comparing.difference import FACTOR, Difference
from trainlint.comparing.folded import folded, named
from trainlint.output.printable import printable
from trainlint.output.style import Piece


def comparison_text(found: Sequence[Difference], before: str, after: str) -> Iterator[Piece]:
    """Topic by topic: what differs, in the first recording and in the second."""
    if not found:
        yield Piece(f"No differences: numbers within a factor of {FACTOR:g} count as equal.\n")
        return
    for topic, title in TOPICS.items():
        rows = [_row(one, count) for one, count in folded([one for one in found if one.topic == topic])]
        if not rows:
            continue
        yield Piece(f"{title}\n", "strong")
        widths = [max(len(row[n]) for row in rows) for n in range(3)]
        for row in rows:
            first = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=False))
            yield Piece(f"  {first}  -> {row[3]}\n")
        yield Piece("\n")
    said = "1 difference" if len(found) == 1 else f"{len(found)} differences"
    between = f"between {printable(before)} and {printable(after)}"
    yield Piece(f"{said} {between}; numbers within a factor of {FACTOR:g} count as equal.\n")


def _row(one: Difference, count: int) -> tuple[str, str, str, str]:
    shown = (named(one, count), one.what, one.before, one.after)
    a, b, c, d = map(printable, shown)
    return a, b, c, d
