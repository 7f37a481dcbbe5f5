"""What the shape of code alone tells, before anything is evaluated."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass

from trainlint.program.source import syntax as s

_ORDERS = frozenset(("<", "<=", ">", ">="))
"""Comparisons that can turn out either way on every iteration of a loop."""


def is_main_guard(test: s.Expr) -> bool:
    match test:
        case s.Operation(operator="==", operands=(s.Name(name="__name__"), s.Constant(value="__main__"))):
            return True
    return False


def is_import_error(catches: s.Expr | None) -> bool:
    names = {
        one.name
        for one in (catches.items if isinstance(catches, s.Collection) else (catches,))
        if isinstance(one, s.Name)
    }
    return catches is None or not names.isdisjoint(
        ("ImportError", "ModuleNotFoundError", "AttributeError", "Exception", "TypeError")
    )


def only_sets_mode(node: s.If) -> bool:
    """`if not model.training: model.train()`: afterwards the mode is the same, whichever way it went."""
    match node:
        case s.If(
            test=s.Operation(operator="not", operands=(s.Attribute(name="training"),)),
            body=(s.Evaluate(value=s.Call(func=s.Attribute(name="train"))),),
            orelse=(),
        ):
            return True
        case s.If(
            test=s.Attribute(name="training"),
            body=(s.Evaluate(value=s.Call(func=s.Attribute(name="eval"))),),
            orelse=(),
        ):
            return True
    return False


def restores_mode(node: s.If) -> bool:
    """`if was_training: model.train()`: nothing but a switch back, asked of a name."""
    match node:
        case s.If(
            test=s.Name(),
            body=(s.Evaluate(value=s.Call(func=s.Attribute(name="train"))),),
            orelse=() | (s.Evaluate(value=s.Call(func=s.Attribute(name="eval"))),),
        ):
            return True
    return False


def is_lazy(node: s.If) -> bool:
    """`if self.x is None: self.x = ...`: decided one way on the first iteration of a loop, and the other way on the next."""
    return any(
        isinstance(target, s.Attribute) and _is_over_once_set(node.test, target, one.value)
        for one in node.body
        if isinstance(one, s.Assign)
        for target in one.targets
    )


def _is_over_once_set(test: s.Expr, target: s.Attribute, value: s.Expr | None) -> bool:
    """Whether a condition asks that an attribute is not there yet, or is still set, and what it becomes ends that."""
    empties = isinstance(value, s.Constant) and not value.value
    match test:
        case s.Operation(operator="is" | "==", operands=(asked, s.Constant(value=None))):
            return are_alike(asked, target) and not empties
        case s.Operation(operator="not", operands=(s.Call(func=s.Name(name="hasattr"), args=(_, named)),)):
            return isinstance(named.value, s.Constant) and named.value.value == target.name
        case s.Operation(operator="not", operands=(asked,)):
            return are_alike(asked, target) and not empties
        case s.Attribute():
            return are_alike(test, target) and empties
        case s.Operation(operator="and" | "or", operands=several):
            return any(_is_over_once_set(one, target, value) for one in several)
    return False


def are_alike(one: s.Expr, other: s.Expr) -> bool:
    """Whether two expressions say the same, wherever they stand."""
    pending: list[tuple[object, object]] = [(one, other)]
    while pending:
        left, right = pending.pop()
        if type(left) is not type(right):
            return False
        if isinstance(left, tuple) and isinstance(right, tuple):
            if len(left) != len(right):
                return False
            pending.extend(zip(left, right, strict=True))
        elif is_dataclass(left):
            pending.extend(
                (getattr(left, field.name), getattr(right, field.name))
                for field in fields(left)
                if field.name != "at"
            )
        elif left != right:
            return False
    return True


def last_named(node: s.Expr) -> str:
    """The name, attribute or key that a call is given last: `n` of `enumerate(range(cfg["n"]))`."""
    is_given = False
    while isinstance(node, s.Call) and node.args:
        node, is_given = node.args[-1].value, True
    match node:
        case s.Name(name=name) | s.Attribute(name=name) | s.Subscript(index=s.Constant(value=str(name))):
            return name if is_given else ""
    return ""


def says_nothing(node: s.Statement) -> bool:
    """A docstring, or `...`."""
    return isinstance(node, s.Evaluate) and isinstance(node.value, s.Constant)


def names_version(node: s.Expr) -> bool:
    match node:
        case s.Name(name=name) | s.Attribute(name=name):
            return "version" in name.lower()
        case s.Call():
            return names_version(node.func)
        case s.Operation():
            return any(names_version(one) for one in node.operands)
    return False


def assigned(block: s.Block) -> Iterator[str]:
    """The plain names that a block assigns, nested functions left out."""
    for node in block:
        match node:
            case s.Assign():
                for target in node.targets:
                    yield from _names(target)
            case s.AugmentedAssign(target=target) | s.Evaluate(value=s.Walrus(target=target)):
                yield from _names(target)
            case s.For():
                yield from _names(node.target)
                yield from assigned(node.body)
                yield from assigned(node.orelse)
            case s.While() | s.If():
                yield from assigned(node.body)
                yield from assigned(node.orelse)
            case s.With():
                for _, name in node.items:
                    if name is not None:
                        yield from _names(name)
                yield from assigned(node.body)
            case s.Try():
                for part in (
                    node.body,
                    node.orelse,
                    node.final,
                    *(handler.body for handler in node.handlers),
                ):
                    yield from assigned(part)
            case s.Match():
                for case in node.cases:
                    yield from assigned(case.body)


def names(block: s.Block | tuple[s.Expr, ...]) -> Iterator[str]:
    """Every name and attribute in a block, or in some expressions."""
    pending: list[object] = [block]
    while pending:
        node = pending.pop()
        if isinstance(node, tuple):
            pending.extend(node)
        elif is_dataclass(node) and not isinstance(node, type):
            if isinstance(node, (s.Name, s.Attribute)):
                yield node.name
            pending.extend(getattr(node, one.name) for one in fields(node))


def blocks(node: s.Statement) -> Iterator[s.Block]:
    """The blocks of a statement that has some, and opens no scope."""
    match node:
        case s.If() | s.For() | s.While():
            yield node.body
            yield node.orelse
        case s.With():
            yield node.body
        case s.Try():
            yield node.body
            yield from (handler.body for handler in node.handlers)
            yield node.orelse
            yield node.final
        case s.Match():
            yield from (case.body for case in node.cases)


def _names(target: s.Expr) -> Iterator[str]:
    match target:
        case s.Name():
            yield target.name
        case s.Collection():
            for item in target.items:
                yield from _names(item)
        case s.Starred():
            yield from _names(target.value)


def label(node: s.Expr, depth: int = 0) -> str:
    """Short source text: `self.net.fc`, `x.view(…)`."""
    match node:
        case s.Name():
            return node.name
        case s.Attribute():
            return f"{label(node.value, depth + 1)}.{node.name}" if depth < 3 else f"….{node.name}"
        case s.Call():
            return f"{label(node.func, depth + 1)}(…)"
        case s.Subscript():
            return f"{label(node.value, depth + 1)}[…]"
        case s.Constant():
            return repr(node.value)
        case s.Operation(operands=(first, second)) if depth < 2:
            return f"{label(first, depth + 2)} {node.operator} {label(second, depth + 2)}"
    return "…"


def compared(node: s.Call) -> str | None:
    """Short source text of `ids.eq(pad)`, which is another way to write a comparison; None for any other call."""
    match node:
        case s.Call(func=s.Attribute(name="eq" | "ne"), args=(s.Argument(value=other, star=""),)):
            return f"{label(node.func)}({label(other)})"
    return None
