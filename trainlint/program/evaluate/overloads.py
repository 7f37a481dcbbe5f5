"""Operators that a class of the program defines: `meter += loss` calls `Meter.__iadd__`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainlint.facts.model.values import Object, Value, alternatives
from trainlint.program.evaluate import classes
from trainlint.program.evaluate.values import Arguments, ClassValue, FunctionValue
from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator

_NAMES = {
    "+": "add",
    "-": "sub",
    "*": "mul",
    "/": "truediv",
    "//": "floordiv",
    "%": "mod",
    "@": "matmul",
    "**": "pow",
    "&": "and",
    "|": "or",
    "^": "xor",
    "<<": "lshift",
    ">>": "rshift",
}


def overloaded(
    ev: Evaluator, operator: str, operands: tuple[Value, ...], at: s.Span, *, in_place: bool = False
) -> Value | None:
    """What an operator gives whose left or right side is an object of a class that defines it; None for all others."""
    if operator not in _NAMES or len(operands) != 2:
        return None
    left, right = operands
    name = _NAMES[operator]
    for mine, other, prefixes in ((left, right, ("i", "") if in_place else ("",)), (right, left, ("r",))):
        receiver = _object(mine)
        if receiver is None:
            continue
        for prefix in prefixes:
            method = classes.class_attribute(ev, receiver.definition, f"__{prefix}{name}__")
            if isinstance(method, FunctionValue):
                return ev.call_function(method, Arguments((receiver, other)), at, receiver)
    return None


def _object(value: Value) -> Object | None:
    """The one object of a class of the program that a value is, in each iteration of a loop."""
    found = list(alternatives(value))
    first = found[0] if found else None
    is_one = all(one is first for one in found)
    return (
        first if is_one and isinstance(first, Object) and isinstance(first.definition, ClassValue) else None
    )
