"""What could not be checked, one line each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trainlint.finding import Problem
from trainlint.output.printable import printable
from trainlint.output.style import Piece


def problem_lines(problems: Iterable[Problem]) -> Iterator[Piece]:
    for problem in problems:
        yield Piece("error:", "error")
        yield Piece(f" {printable(problem.shown)}: {printable(problem.message)}\n")
