"""Sizes: numbers that Python holds, and which of them are equal because they are written the same way."""

from __future__ import annotations

from trainlint.facts.ask.asking import question
from trainlint.facts.model.values import Choice, Constant, Op, Value

_SIZES = frozenset("shape size builtins.len".split())
_ARITHMETIC = frozenset("+ - * // % getitem".split())


@question(start=True, unknown=False)
def is_number(value: Value) -> bool:
    """Whether a value certainly is a number, or several, that Python holds: a constant, or made of lengths."""
    match value:
        case Constant():
            return True
        case Choice():
            return all(map(is_number, value.parts()))
        case Op() if value.name in _SIZES:
            return True
        case Op(inputs=(_, *_)) if value.name in _ARITHMETIC:
            return all(map(is_number, value.inputs))
    return False


@question(start=False, unknown=False)
def is_same_size(first: Value, second: Value) -> bool:
    """Whether two sizes are equal, as far as they are written the same way."""
    if first is second:
        return True
    match first, second:
        case Constant(), Constant():
            return bool(first.value == second.value)
        case Op(), Op():
            return (
                first.name == second.name
                and first.name not in ("call", "framework")
                and len(first.inputs) == len(second.inputs)
                and first.options.keys() == second.options.keys()
                and all(map(is_same_size, first.inputs, second.inputs))
                and all(is_same_size(one, second.options[name]) for name, one in first.options.items())
            )
    return False
