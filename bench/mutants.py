"""Small changes of meaning that can be made to a Python file, one at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import libcst as cst
from libcst.metadata import ByteSpanPositionProvider, MetadataWrapper, PositionProvider

_FLIPPED: dict[type[cst.BaseCompOp], type[cst.BaseCompOp]] = {
    cst.Equal: cst.NotEqual,
    cst.NotEqual: cst.Equal,
    cst.LessThan: cst.LessThanEqual,
    cst.LessThanEqual: cst.LessThan,
    cst.GreaterThan: cst.GreaterThanEqual,
    cst.GreaterThanEqual: cst.GreaterThan,
    cst.In: cst.NotIn,
    cst.NotIn: cst.In,
    cst.Is: cst.IsNot,
    cst.IsNot: cst.Is,
}
_OTHER_NAME = {"True": "False", "False": "True", "min": "max", "max": "min", "any": "all", "all": "any"}
_PASS = cst.Pass()


class Mutant(NamedTuple):
    """A span of bytes of a file, what stands there, and what is to stand there instead."""

    path: str
    line: int
    start: int
    before: str
    after: str

    @property
    def key(self) -> str:
        """What it is, wherever in its file it has moved to. Mutants that read alike have one key."""
        return f"{self.path}: {_one_line(self.before)} -> {_one_line(self.after)}"

    def applied(self, raw: bytes) -> bytes:
        return raw[: self.start] + self.after.encode() + raw[self.start + len(self.before.encode()) :]


def mutants(path: str, raw: bytes) -> Iterator[Mutant]:
    """Every mutant of a file; Python may refuse some."""
    wrapper = MetadataWrapper(cst.parse_module(raw), unsafe_skip_copy=True)
    finder = _Finder(wrapper.module)
    wrapper.visit(finder)
    for node, other in finder.found:
        span = wrapper.resolve(ByteSpanPositionProvider)[node]
        line = wrapper.resolve(PositionProvider)[node].start.line
        before = raw[span.start : span.start + span.length].decode()
        made = Mutant(path, line, span.start, before, other)
        if made.after != before:
            yield made


def is_python(raw: bytes) -> bool:
    try:
        compile(raw, "mutant", "exec", dont_inherit=True)
    except SyntaxError:
        return False
    return True


def _one_line(text: str) -> str:
    return " ".join(text.split())


class _Finder(cst.CSTVisitor):
    """Nodes, and the source that may stand in their place."""

    METADATA_DEPENDENCIES = (ByteSpanPositionProvider, PositionProvider)

    def __init__(self, module: cst.Module) -> None:
        super().__init__()
        self.found: list[tuple[cst.CSTNode, str]] = []
        self._code = module.code_for_node

    def _add(self, node: cst.CSTNode, other: cst.CSTNode) -> None:
        self.found.append((node, self._code(other)))

    def visit_Annotation(self, _: cst.Annotation) -> bool:
        return False

    def visit_Decorator(self, _: cst.Decorator) -> bool:
        return False

    def visit_Comparison(self, node: cst.Comparison) -> None:
        for one in node.comparisons:
            flipped = _FLIPPED.get(type(one.operator))
            if flipped is not None:
                changed = one.with_changes(operator=flipped())
                self._add(node, node.with_deep_changes(one, operator=changed.operator))

    def visit_BooleanOperation(self, node: cst.BooleanOperation) -> None:
        other = cst.Or() if isinstance(node.operator, cst.And) else cst.And()
        self._add(node, node.with_changes(operator=other))

    def visit_UnaryOperation(self, node: cst.UnaryOperation) -> None:
        if isinstance(node.operator, cst.Not):
            self.found.append((node, f"bool({self._code(node.expression)})"))

    def visit_BinaryOperation(self, node: cst.BinaryOperation) -> None:
        swapped: dict[type[cst.BaseBinaryOp], cst.BaseBinaryOp] = {
            cst.Add: cst.Subtract(),
            cst.Subtract: cst.Add(),
        }
        other = swapped.get(type(node.operator))
        if other is not None:
            self._add(node, node.with_changes(operator=other))

    def _negated(self, test: cst.BaseExpression) -> None:
        if isinstance(test, cst.Name) and test.value == "TYPE_CHECKING":
            return
        self.found.append((test, f"(not ({self._code(test)}))"))

    def visit_If(self, node: cst.If) -> None:
        self._negated(node.test)

    def visit_While(self, node: cst.While) -> None:
        self._negated(node.test)

    def visit_IfExp(self, node: cst.IfExp) -> None:
        self._negated(node.test)

    def visit_CompIf(self, node: cst.CompIf) -> None:
        self._negated(node.test)

    def visit_Integer(self, node: cst.Integer) -> None:
        if node.value.isdecimal():
            self.found += [(node, str(int(node.value) + 1)), (node, f"({int(node.value) - 1})")]

    def visit_Float(self, node: cst.Float) -> None:
        self.found += [(node, f"({node.value} * 10)"), (node, f"({node.value} / 10)")]

    def visit_Name(self, node: cst.Name) -> None:
        if node.value in _OTHER_NAME:
            self.found.append((node, _OTHER_NAME[node.value]))

    def visit_Return(self, node: cst.Return) -> None:
        if node.value is not None and self._code(node.value) != "None":
            self.found.append((node, "return None"))

    def visit_Break(self, node: cst.Break) -> None:
        self._add(node, cst.Continue())

    def visit_Continue(self, node: cst.Continue) -> None:
        self._add(node, cst.Break())

    def visit_Expr(self, node: cst.Expr) -> None:
        if not isinstance(node.value, (cst.SimpleString, cst.ConcatenatedString)):
            self._add(node, _PASS)

    def visit_AugAssign(self, node: cst.AugAssign) -> None:
        self._add(node, _PASS)

    def visit_Set(self, node: cst.Set) -> None:
        self._without_one(node)

    def visit_Tuple(self, node: cst.Tuple) -> None:
        if all(isinstance(one.value, cst.SimpleString) for one in node.elements):
            self._without_one(node)

    def _without_one(self, node: cst.Set | cst.Tuple) -> None:
        if len(node.elements) > 2:
            self._add(node, node.with_changes(elements=node.elements[1:]))
