"""One line per finding, for editors and grep."""

from __future__ import annotations

from collections.abc import Iterator

from trainlint.output.printable import printable
from trainlint.output.style import Piece
from trainlint.report import Report


def concise(report: Report) -> Iterator[Piece]:
    for finding in report.shown:
        yield Piece(f"{_first_in_line(finding.at.shown)}: ")
        level = finding.level or "error"
        yield Piece(f"{level} {finding.code}", level)
        likely = " (likely)" if finding.confidence == "likely" else ""
        verdict = f" ({finding.verdict})" if finding.verdict is not None else ""
        yield Piece(f" {printable(finding.message)}{likely}{verdict}\n")


def _first_in_line(path: str) -> str:
    """Printable, and no workflow command: GitHub obeys lines of a log that begin with two colons."""
    return printable(f"./{path}" if path.startswith("::") else path)
