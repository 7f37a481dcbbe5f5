"""A file as libcst knows it, with where each node stands; and the edits that a change of it comes down to."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, cached_property
from typing import cast

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider

from trainlint.finding import Edit, Place

_LINE = re.compile(r"\r\n|\r|\n")
_Span = tuple[int, int, int, int]


class NotAsRead(Exception):
    """A statement that libcst does not write as it was read."""


class Tree:
    """One file's text, parsed. Raises libcst.ParserSyntaxError."""

    def __init__(self, path: str, text: str) -> None:
        wrapper = MetadataWrapper(cst.parse_module(text), unsafe_skip_copy=True)
        self.module = wrapper.module
        self._path = path
        self._text = text
        self._lines = [0, *(match.end() for match in _LINE.finditer(text))]
        self._parents = _parents(self.module)
        self._by_span: dict[_Span, list[cst.CSTNode]] = {}
        # `wrapper.resolve` asks the same, and then walks the tree for providers that there are none of
        positions = cast(Mapping[cst.CSTNode, CodeRange], PositionProvider()._gen(wrapper))
        for node, found in positions.items():
            start, end = found.start, found.end
            span = (start.line, start.column + 1, end.line, end.column + 1)
            self._by_span.setdefault(span, []).append(node)
        self._positions = positions
        self._code_of = cache(self.module.code_for_node)
        """What is there of a statement, which several changes may be of."""

    @property
    def nodes(self) -> Iterator[cst.CSTNode]:
        """Every node but the module."""
        return iter(self._parents)

    @cached_property
    def quote(self) -> str:
        """The quotation mark that most strings of the file stand in."""
        marks = Counter(one.quote for one in self.nodes if isinstance(one, cst.SimpleString))
        return "'" if marks["'"] > marks['"'] else '"'

    def around(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """What holds a node, innermost first; the module last."""
        while node in self._parents:
            node = self._parents[node]
            yield node

    def parent(self, node: cst.CSTNode) -> cst.CSTNode:
        return self._parents[node]

    def is_behind(self, node: cst.CSTNode, other: cst.CSTNode) -> bool:
        """Whether a node begins where another has ended, or later."""
        start, end = self._positions[node].start, self._positions[other].end
        return (start.line, start.column) >= (end.line, end.column)

    def expression(self, place: Place) -> cst.BaseExpression | None:
        """The expression that takes exactly this place, with or without the parentheses around it."""
        return next((one for one in self._at(place) if isinstance(one, cst.BaseExpression)), None)

    def call(self, place: Place) -> cst.Call | None:
        return next((one for one in self._at(place) if isinstance(one, cst.Call)), None)

    def statement(self, place: Place) -> cst.BaseSmallStatement | None:
        """The simple statement that takes this place, or that holds the expression there."""
        for one in self._at(place):
            if isinstance(one, cst.BaseSmallStatement):
                return one
        inner = self.expression(place)
        outer = self.around(inner) if inner is not None else iter(())
        return next((one for one in outer if isinstance(one, cst.BaseSmallStatement)), None)

    def _at(self, place: Place) -> Iterator[cst.CSTNode]:
        start, end = self._offset(place.line, place.column), self._offset(place.end_line, place.end_column)
        while True:
            yield from self._by_span.get((*self._position(start), *self._position(end)), ())
            inner = self._text[start:end]
            if not (inner.startswith("(") and inner.endswith(")")):
                return
            stripped = inner[1:-1].strip()
            start += inner.index(stripped, 1) if stripped else len(inner)
            end = start + len(stripped)

    def replaced(self, old: cst.CSTNode, new: cst.CSTNode | Sequence[cst.CSTNode]) -> Edit | None:
        """The edit that puts other nodes in the place of one; None where nothing changes.

        Several can take the place of a statement. Raises NotAsRead.
        """
        node: cst.CSTNode = old
        put: list[cst.CSTNode] = [new] if isinstance(new, cst.CSTNode) else list(new)
        for holder in self.around(old):
            if isinstance(holder, cst.Module) or self._is_one_line(node, put):
                break
            put = [_with_child(holder, node, put)]
            node = holder
        before = self._code_of(node)
        if self._is_one_line(node, put):
            start = self._offset(self._positions[node].start.line, self._positions[node].start.column + 1)
        else:
            start = self._start(node) - self._above(node)
        if not self._text.startswith(before, start):
            raise NotAsRead
        after = "".join(self.module.code_for_node(one) for one in put)
        return self._edit(start, before, after)

    def _is_one_line(self, node: cst.CSTNode, put: Sequence[cst.CSTNode]) -> bool:
        """Whether a line takes the place of a line, so that neither depends on what stands around it, as indentation does."""
        return (
            all(
                isinstance(one, cst.SimpleStatementLine)
                and not one.leading_lines
                and "\n" not in self._code_of(one).strip()
                for one in (node, *put)
            )
            and len(put) == 1
        )

    def inserted(self, statement: cst.BaseStatement, code: str) -> Edit:
        """The edit that puts lines above a statement of the module, below the comments that stand over it."""
        offset = self._start(statement)
        return Edit(self._place(offset, offset), code)

    def _start(self, statement: cst.CSTNode) -> int:
        """The offset of a statement of the module, without the lines that stand over it."""
        decorators = getattr(statement, "decorators", ())
        first = decorators[0] if decorators else statement
        return self._lines[self._positions[first].start.line - 1]

    def _above(self, statement: cst.CSTNode) -> int:
        """How many characters the empty lines and comments over a statement take."""
        return sum(len(self.module.code_for_node(line)) for line in getattr(statement, "leading_lines", ()))

    def _edit(self, start: int, before: str, after: str) -> Edit | None:
        """What differs, from word to word."""
        if before == after:
            return None
        first = 0
        shorter = min(len(before), len(after))
        while first < shorter and before[first] == after[first]:
            first += 1
        while first and _is_inside_word(before, first) | _is_inside_word(after, first):
            first -= 1
        last = 0
        while last < shorter - first and before[-1 - last] == after[-1 - last]:
            last += 1
        while last and (
            _is_inside_word(before, len(before) - last) | _is_inside_word(after, len(after) - last)
        ):
            last -= 1
        at = self._place(start + first, start + len(before) - last)
        return Edit(at, after[first : len(after) - last])

    def _place(self, start: int, end: int) -> Place:
        return Place(self._path, *self._position(start), *self._position(end))

    def _position(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self._lines, offset)
        return line, offset - self._lines[line - 1] + 1

    def _offset(self, line: int, column: int) -> int:
        return self._lines[min(line, len(self._lines)) - 1] + column - 1


def _parents(module: cst.Module) -> dict[cst.CSTNode, cst.CSTNode]:
    """What holds each node, in the order of the text. libcst's own way to find out takes many times as long."""
    parents: dict[cst.CSTNode, cst.CSTNode] = {}
    pending: list[cst.CSTNode] = [module]
    while pending:
        node = pending.pop()
        inner: list[cst.CSTNode] = []
        for name in node.__dataclass_fields__:
            value = getattr(node, name)
            several = value if isinstance(value, (list, tuple)) else (value,)
            inner += (one for one in several if isinstance(one, cst.CSTNode))
        parents.update(dict.fromkeys(inner, node))
        pending += reversed(inner)
    return parents


def _with_child(holder: cst.CSTNode, old: cst.CSTNode, put: list[cst.CSTNode]) -> cst.CSTNode:
    """A copy of a node in which others stand in the place of one of its children."""
    for name in holder.__dataclass_fields__:
        value = getattr(holder, name)
        if value is old:
            return holder.with_changes(**{name: put[0]})
        if isinstance(value, (list, tuple)) and any(one is old for one in value):
            spread = [other for one in value for other in (put if one is old else [one])]
            return holder.with_changes(**{name: spread})
    raise ValueError("not a child of the node")


def _is_inside_word(text: str, offset: int) -> bool:
    around = text[max(0, offset - 1) : offset + 1]
    return len(around) == 2 and all(one.isalnum() or one == "_" for one in around)
