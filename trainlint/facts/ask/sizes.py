"""Sizes that are equal because they are written the same way."""

from __future__ import annotations

from trainlint.facts.ask.asking import question
from trainlint.facts.model.values import Constant, Op, Value


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
