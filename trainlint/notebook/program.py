"""A notebook as one program: the text that is checked, and the way back from its lines to cells."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from trainlint.finding import Cell, Place, Problem
from trainlint.notebook import document, magics
from trainlint.notebook.displayed import shows_last
from trainlint.program.source.syntax import DISPLAYS
from trainlint.project.soundness import parses

SUFFIX = ".ipynb"
_HEADER = "# -*- coding: utf-8 -*-\n"
"""The first line of every program, so that no comment in a cell can say otherwise."""
_LINE = re.compile(r"\r\n|\r|\n")
_HALF = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Block:
    """What the program holds of one cell: its Python, and a line that belongs to no other."""

    cell: document.Cell
    first: int
    """Line of the program, from 1."""
    text: str
    margins: tuple[int, ...] = ()
    """How many characters stand before each line of the cell, and not before that of the program."""

    @cached_property
    def lines(self) -> list[str]:
        """The source as it stands in the notebook."""
        return _LINE.split(self.cell.source)

    @property
    def end(self) -> int:
        """The line after it."""
        return self.first + len(_LINE.findall(self.text))

    def column(self, line: int, column: int) -> int:
        """The column in the cell of one in the program."""
        number = line - self.first
        return column + self.margins[number] if number < len(self.margins) else column

    def offset(self, line: int, column: int) -> int:
        """Where a line and column of the program is in the source of the cell."""
        starts = [0, *(match.end() for match in _LINE.finditer(self.cell.source))]
        number = line - self.first
        if number >= len(starts):
            return len(self.cell.source)
        return min(starts[number] + self.column(line, column) - 1, len(self.cell.source))


class Notebook:
    """A notebook that has been read. Cells with errors are left out of its program.

    Raises NotANotebook.
    """

    def __init__(self, path: str, raw: bytes) -> None:
        self.path = path
        self.document = document.Document(raw)
        self.blocks: list[Block] = []
        self.broken: dict[int, Problem] = {}
        """By the number of the cell."""
        line = 2
        for cell in self.document.cells:
            margins = magics.margins(cell.source)
            text = self._python(cell, magics.without_margins(cell.source, margins))
            if text.strip():
                last = DISPLAYS if shows_last(text) else ""
                block = Block(cell, line, f"{ended(text)}{last}\n", margins)
                self.blocks.append(block)
                line = block.end

    def _python(self, cell: document.Cell, source: str) -> str:
        text = magics.python(_HALF.sub("\ufffd", source))
        if text is None:
            return ""
        problem = _problem(self.path, text)
        if problem is None:
            return text
        self.broken[cell.number] = problem
        return ""

    @cached_property
    def text(self) -> str:
        return _HEADER + "".join(block.text for block in self.blocks)

    @property
    def source(self) -> bytes:
        """The program as a file of Python."""
        return self.text.encode("utf-8")

    @property
    def problems(self) -> Iterator[Problem]:
        """The cells that are no Python."""
        for cell in self.document.cells:
            if cell.number in self.broken:
                problem = self.broken[cell.number]
                lines = len(_LINE.findall(cell.source)) + 1
                line = min(problem.line or 1, lines)
                yield problem._replace(line=line, cell=self._cell(cell, Block(cell, 1, ""), line, 1, line, 1))

    def block(self, line: int) -> Block | None:
        """The cell that a line of the program stems from."""
        at = bisect_right(self.blocks, line, key=lambda block: block.first) - 1
        return self.blocks[max(at, 0)] if self.blocks else None

    def located(self, at: Place) -> Place:
        """A place of the program, in its cell."""
        block = self.block(at.line)
        if block is None or at.cell is not None:
            return at
        cell = self._cell(block.cell, block, at.line, at.column, at.end_line, at.end_column)
        above = block.first - 1
        return Place(
            at.path,
            at.line - above,
            block.column(at.line, at.column),
            at.end_line - above,
            block.column(at.end_line, at.end_column),
            cell,
        )

    def located_problem(self, problem: Problem) -> Problem:
        """What was said of a line of the program, in its cell."""
        if problem.line is None or problem.cell is not None:
            return problem
        at = self.located(Place(self.path, problem.line, 1, problem.line, 1))
        return problem._replace(line=at.line, cell=at.cell)

    def lines(self, number: int) -> Sequence[str]:
        """The source of the cell with this number."""
        return next((block.lines for block in self.blocks if block.cell.number == number), ())

    def _cell(
        self, cell: document.Cell, block: Block, line: int, column: int, end_line: int, end_column: int
    ) -> Cell:
        start = self.document.position(cell, block.offset(line, column))
        end = self.document.position(cell, block.offset(end_line, end_column))
        return Cell(cell.number, *start, *end)


def ended(text: str) -> str:
    """Text with a line end."""
    return text if text.endswith(("\n", "\r")) else f"{text}\n"


def _problem(path: str, text: str) -> Problem | None:
    """What is wrong with the Python of a cell."""
    source = (_HEADER + text).encode("utf-8")
    if parses(source):
        return None
    from trainlint.program.source.loading import load

    found = load(path, source)
    if not isinstance(found, Problem):
        return None
    return found if found.line is None else found._replace(line=max(1, found.line - 1))
