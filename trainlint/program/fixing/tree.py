"""A file as libcst knows it, with where each node stands; and the edits that a change of it comes down to."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate

import libcst as cst
from libcst.metadata import MetadataWrapper, ParentNodeProvider, PositionProvider

from trainlint.finding import Edit, Place

_LINE = re.compile(r"\r\n|\r|\n")
_Span = tuple[int, int, int, int]


class Tree:
    """One file's text, parsed. Raises libcst.ParserSyntaxError, and ValueError where libcst does not give it back."""

    def __init__(self, path: str, text: str) -> None:
        wrapper = MetadataWrapper(cst.parse_module(text), unsafe_skip_copy=True)
        self.module = wrapper.module
        self._path = path
        self._text = text
        self._lines = [0, *(match.end() for match in _LINE.finditer(text))]
        self._parents = wrapper.resolve(ParentNodeProvider)
        self._by_span: dict[_Span, list[cst.CSTNode]] = {}
        for node, found in wrapper.resolve(PositionProvider).items():
            start, end = found.start, found.end
            span = (start.line, start.column + 1, end.line, end.column + 1)
            self._by_span.setdefault(span, []).append(node)
        header = sum(len(self.module.code_for_node(line)) for line in self.module.header)
        codes = [self.module.code_for_node(statement) for statement in self.module.body]
        self._codes = dict(zip(map(id, self.module.body), codes, strict=True))
        starts = accumulate(map(len, codes), initial=header)
        self._starts = dict(zip(map(id, self.module.body), starts, strict=False))
        if not text.startswith("".join(codes), header):
            raise ValueError(f"{path}: what was parsed is not what was read")

    @property
    def nodes(self) -> Iterator[cst.CSTNode]:
        """Every node but the module."""
        return iter(self._parents)

    def around(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """What holds a node, innermost first; the module last."""
        while node in self._parents:
            node = self._parents[node]
            yield node

    def parent(self, node: cst.CSTNode) -> cst.CSTNode:
        return self._parents[node]

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

        Several can take the place of a statement.
        """
        node: cst.CSTNode = old
        put: list[cst.CSTNode] = [new] if isinstance(new, cst.CSTNode) else list(new)
        for holder in self.around(old):
            if isinstance(holder, cst.Module):
                break
            put = [_with_child(holder, node, put)]
            node = holder
        before = self._codes[id(node)]
        after = "".join(self.module.code_for_node(one) for one in put)
        return self._edit(self._starts[id(node)], before, after)

    def inserted(self, statement: cst.BaseStatement, code: str) -> Edit:
        """The edit that puts lines above a statement of the module, below the comments that stand over it."""
        leading = getattr(statement, "leading_lines", ())
        offset = self._starts[id(statement)] + sum(len(self.module.code_for_node(line)) for line in leading)
        return Edit(self._place(offset, offset), code)

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
