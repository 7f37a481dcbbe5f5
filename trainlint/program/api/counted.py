"""The numbers of a `range` of constants, where each has a name or a place of its own."""

from __future__ import annotations

from trainlint import limits
from trainlint.facts.model.values import Constant, Items, Op, Value, constant


def numbers(value: Value) -> Items | None:
    """The numbers that a short `range` certainly gives."""
    counted = _range(value)
    if counted is None or len(counted) > limits.MAX_UNROLLED:
        return None
    return Items(items=[Constant(value=one) for one in counted])


def backwards(value: Value) -> tuple[Value, ...] | None:
    """The arguments of the `range` that gives the numbers of another one in the opposite order."""
    counted = _range(value)
    if counted is None:
        return None
    turned = counted[::-1]
    return tuple(Constant(value=one) for one in (turned.start, turned.stop, turned.step))


def _range(value: Value) -> range | None:
    if not isinstance(value, Op) or value.name != "range" or value.options:
        return None
    given = [constant(one) for one in value.inputs]
    is_known = 1 <= len(given) <= 3 and all(type(one) is int and one.bit_length() < 32 for one in given)
    return range(*given) if is_known and given[2:] != [0] else None
