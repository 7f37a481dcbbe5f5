"""Whether a piece of source is what a pattern says, and what its holes stand for there."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache

import libcst as cst

from trainlint.program.rewrite.names import Names

Pattern = cst.BaseExpression | cst.BaseSmallStatement


@dataclass
class Found:
    """What the holes of a pattern stand for; `_more` of `*_more` stands for arguments of `calls["_more"]`."""

    holes: dict[str, cst.BaseExpression] = field(default_factory=dict)
    arguments: dict[str, cst.Arg] = field(default_factory=dict)
    more: dict[str, list[cst.Arg]] = field(default_factory=dict)
    calls: dict[str, cst.Call] = field(default_factory=dict)


@cache
def parsed(source: str) -> Pattern:
    """A pattern or template: an expression or a simple statement."""
    try:
        return cst.parse_expression(source)
    except cst.ParserSyntaxError:
        line = cst.parse_statement(source)
        assert isinstance(line, cst.SimpleStatementLine)
        return line.body[0]


def found(pattern: str, node: cst.CSTNode, names: Names) -> Found | None:
    """What the pattern finds in a node, which has to be it as a whole."""
    matching = _Matching(names)
    return matching.found if matching.same(parsed(pattern), node) else None


def is_hole(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.Name) and node.value.startswith("_")


def dotted(node: cst.BaseExpression, *, with_holes: bool = False) -> str | None:
    """`torch.log` as text; None where it is more than names."""
    if isinstance(node, cst.Name):
        return None if is_hole(node) and not with_holes else node.value
    if isinstance(node, cst.Attribute):
        inner = dotted(node.value, with_holes=with_holes)
        return None if inner is None else f"{inner}.{node.attr.value}"
    return None


class _Matching:
    def __init__(self, names: Names) -> None:
        self.found = Found()
        self._names = names

    def same(self, pattern: cst.CSTNode, node: cst.CSTNode) -> bool:
        if isinstance(pattern, cst.Name) and is_hole(pattern):
            return isinstance(node, cst.BaseExpression) and self._hole(pattern.value, node)
        if isinstance(pattern, (cst.Name, cst.Attribute)):
            name = dotted(pattern)
            if name is not None:
                return isinstance(node, cst.BaseExpression) and self._names.full(node) == name
        if isinstance(pattern, (cst.Integer, cst.Float, cst.SimpleString)):
            return isinstance(node, (cst.Integer, cst.Float, cst.SimpleString)) and (
                ast.literal_eval(pattern.value) == ast.literal_eval(node.value)
            )
        how = _KINDS.get(type(pattern))
        return how is not None and type(node) is type(pattern) and how(self, pattern, node)

    def _hole(self, name: str, node: cst.BaseExpression) -> bool:
        if name.startswith("_the_") and dotted(node, with_holes=True) is None:
            return False
        if name == "_imported" and not self._names.is_torchs(node):
            return False
        known = self.found.holes.setdefault(name, node)
        return known is node or known.deep_equals(node)

    def _attribute(self, pattern: cst.Attribute, node: cst.Attribute) -> bool:
        return pattern.attr.value == node.attr.value and self.same(pattern.value, node.value)

    def _call(self, pattern: cst.Call, node: cst.Call) -> bool:
        return self.same(pattern.func, node.func) and self._arguments(pattern.args, node)

    def _arguments(self, patterns: Sequence[cst.Arg], node: cst.Call) -> bool:
        left = list(node.args)
        more: cst.Arg | None = None
        for pattern in patterns:
            if pattern.star:
                more = pattern
                continue
            wanted = pattern.keyword.value if pattern.keyword is not None else None
            given = next((one for one in left if _is_given(one, wanted)), None)
            if wanted is None and left and left[0] is not given:
                given = None  # behind a starred argument, a position is unknown
            if given is None or not self.same(pattern.value, given.value):
                return False
            if isinstance(pattern.value, cst.Name):
                self.found.arguments[pattern.value.value] = given
            left.remove(given)
        if more is None:
            return not left
        if more.star == "**" and any(one.keyword is None and one.star != "**" for one in left):
            return False
        assert isinstance(more.value, cst.Name)
        self.found.more[more.value.value], self.found.calls[more.value.value] = left, node
        return True

    def _sequence(self, pattern: cst.List | cst.Tuple, node: cst.List | cst.Tuple) -> bool:
        return len(pattern.elements) == len(node.elements) and all(
            self.same(one.value, other.value)
            for one, other in zip(pattern.elements, node.elements, strict=True)
        )

    def _binary(self, pattern: cst.BinaryOperation, node: cst.BinaryOperation) -> bool:
        return (
            type(pattern.operator) is type(node.operator)
            and self.same(pattern.left, node.left)
            and self.same(pattern.right, node.right)
        )

    def _assign(self, pattern: cst.Assign, node: cst.Assign) -> bool:
        return (
            len(node.targets) == 1
            and self.same(pattern.targets[0].target, node.targets[0].target)
            and self.same(pattern.value, node.value)
        )

    def _augmented(self, pattern: cst.AugAssign, node: cst.AugAssign) -> bool:
        return (
            type(pattern.operator) is type(node.operator)
            and self.same(pattern.target, node.target)
            and self.same(pattern.value, node.value)
        )


def _is_given(one: cst.Arg, wanted: str | None) -> bool:
    keyword = one.keyword.value if one.keyword is not None else None
    return keyword == wanted and not one.star


_KINDS: dict[type, Callable[..., bool]] = {
    cst.Attribute: _Matching._attribute,
    cst.Call: _Matching._call,
    cst.List: _Matching._sequence,
    cst.Tuple: _Matching._sequence,
    cst.BinaryOperation: _Matching._binary,
    cst.Assign: _Matching._assign,
    cst.AugAssign: _Matching._augmented,
}
