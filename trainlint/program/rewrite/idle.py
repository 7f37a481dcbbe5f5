"""Assignments that fixes leave without effect: `x = x`, where a call around the second `x` is gone."""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from trainlint.finding import Edit, Place
from trainlint.project.soundness import tree

_LINE = re.compile(r"\r\n|\r|\n")


class Line(NamedTuple):
    """An assignment that shares its lines with nothing, by the offsets of its first character and of its end."""

    start: int
    end: int
    block: int
    """Which statements it stands among."""


class Idle:
    """Takes assignments out of a text where edits would make them idle.

    Args:
        takes: whether edits can be made in it.
    """

    def __init__(self, path: str, text: str, takes: Callable[[Iterable[Edit]], bool]) -> None:
        self._path = path
        self._text = text
        self._takes = takes
        self._starts = [0, *(match.end() for match in _LINE.finditer(text))]

    def left_out(self, edits: Iterable[Edit]) -> tuple[Edit, ...]:
        """The edits, with one that takes whole lines in the place of those that leave them idle."""
        kept: list[Edit] = []
        inside: dict[Line, list[Edit]] = defaultdict(list)
        for edit in edits:
            line = self._line_around(edit)
            (inside[line] if line is not None else kept).append(edit)
        idle = [line for line, within in inside.items() if _is_idle(self._edited(line, within))]
        idle_in = Counter(line.block for line in idle)
        gone = [
            line
            for line in idle
            if idle_in[line.block] < self._sizes[line.block]
            and self._takes([self._removal(*self._rows(line))])
        ]
        for line in inside.keys() - gone:
            kept += inside[line]
        for first, below in _runs(map(self._rows, gone)):
            above = self._above(first, below, kept)
            kept.append(self._removal(above, below))
        return tuple(sorted(kept))

    @cached_property
    def _lines(self) -> Sequence[Line]:
        """In order. Those of a class are left out: `x = x` gives it an attribute."""
        return sorted(self._found())

    def _found(self) -> Iterator[Line]:
        self._sizes: list[int] = []
        for holder in ast.walk(tree(self._text)):
            if isinstance(holder, ast.ClassDef):
                continue
            for name in ("body", "orelse", "finalbody"):
                block = getattr(holder, name, None)
                if isinstance(block, list):
                    self._sizes.append(len(block))
                    for statement in block:
                        line = self._alone(statement, len(self._sizes) - 1)
                        if line is not None:
                            yield line

    def _alone(self, statement: ast.stmt, block: int) -> Line | None:
        if not isinstance(statement, ast.Assign):
            return None
        assert statement.end_lineno is not None and statement.end_col_offset is not None
        start = self._offset(statement.lineno, statement.col_offset)
        end = self._offset(statement.end_lineno, statement.end_col_offset)
        before = self._text[self._starts[statement.lineno - 1] : start]
        after = self._text[end : self._starts[statement.end_lineno]]
        has_comment = "#" in self._text[start:end] or self._line(statement.lineno - 1).startswith("#")
        return None if before.strip() or after.strip() or has_comment else Line(start, end, block)

    def _line(self, number: int) -> str:
        """What stands in a line; nothing where there is none."""
        starts = [0, *self._starts, len(self._text)]
        return self._text[starts[number] : starts[number + 1]].strip()

    def _offset(self, line: int, column: int) -> int:
        """Of a column in bytes, as `ast` counts them."""
        start = self._starts[line - 1]
        return start + len(self._text[start : self._starts[line]].encode()[:column].decode())

    def _line_around(self, edit: Edit) -> Line | None:
        """The line that an edit changes, and does not only come before."""
        start, end = self._span(edit)
        number = bisect_right(self._lines, start, key=lambda line: line.start) - 1
        if number < 0:
            return None
        line = self._lines[number]
        return line if end <= line.end and (end > line.start) else None

    def _span(self, edit: Edit) -> tuple[int, int]:
        at = edit.at
        return (
            self._starts[at.line - 1] + at.column - 1,
            self._starts[at.end_line - 1] + at.end_column - 1,
        )

    def _edited(self, line: Line, edits: Iterable[Edit]) -> str:
        text = self._text[line.start : line.end]
        for edit in sorted(edits, reverse=True):
            start, end = self._span(edit)
            text = text[: start - line.start] + edit.replacement + text[end - line.start :]
        return text

    def _rows(self, line: Line) -> tuple[int, int]:
        """The number of its first line, and of the one below it."""
        return bisect_right(self._starts, line.start), bisect_right(self._starts, line.end) + 1

    def _above(self, first: int, below: int, kept: Iterable[Edit]) -> int:
        """Where rows begin with the empty lines above them, which go where others follow."""
        above = first
        while above > 1 and not self._line(above - 1) and not self._line(below):
            above -= 1
        in_use = any(above <= one.at.end_line and one.at.line < first for one in kept)
        return first if in_use or not self._takes([self._removal(above, below)]) else above

    def _removal(self, first: int, below: int) -> Edit:
        return Edit(Place(self._path, first, 1, below, 1), "")


def _runs(rows: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Rows that follow each other, as one."""
    runs: list[tuple[int, int]] = []
    for first, below in sorted(rows):
        if runs and runs[-1][1] == first:
            first = runs.pop()[0]
        runs.append((first, below))
    return runs


def _is_idle(statement: str) -> bool:
    match tree(statement).body:
        case [ast.Assign(targets=[target], value=value)]:
            names = _names(target)
            return names is not None and names == _names(value)
    return False


def _names(node: ast.expr) -> list[str] | None:
    """Of a name, or of names with commas between."""
    match node:
        case ast.Name():
            return [node.id]
        case ast.Tuple(elts=[*parts]) if all(isinstance(one, ast.Name) for one in parts):
            return [one.id for one in parts if isinstance(one, ast.Name)]
    return None
