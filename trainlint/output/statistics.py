"""How often each rule found something."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from trainlint.output.style import Piece
from trainlint.report import Report


def statistics(report: Report) -> Iterator[Piece]:
    """One line per rule that found something, the most frequent first."""
    counts = Counter((finding.code, finding.level or "error", finding.name) for finding in report.shown)
    digits = max((len(str(count)) for count in counts.values()), default=0)
    for (code, level, name), count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        yield Piece(f"{count:>{digits}}  ", "strong")
        yield Piece(f"{code}  {level:<7}", level)
        yield Piece(f"  {name}\n")
