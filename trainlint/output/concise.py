"""One line per finding, for editors and grep."""

from __future__ import annotations

from collections.abc import Iterator

from trainlint.output.printable import printable
from trainlint.output.style import Piece
from trainlint.report import Report


def concise(report: Report) -> Iterator[Piece]:
    for finding in report.shown:
        yield Piece(f"{printable(finding.at.path)}:{finding.at.line}:{finding.at.column}: ")
        level = finding.level or "error"
        yield Piece(f"{level} {finding.code}", level)
        yield Piece(f" {printable(finding.message)}\n")
