"""Values that can be exactly 0, and why."""

from __future__ import annotations

import struct

from trainlint.facts.api.meanings import CLAMPS, KEEPS
from trainlint.facts.ask.asking import question
from trainlint.facts.model.effort import spend
from trainlint.facts.model.values import Constant, Op, Value

RELUS = ("relu", "torch.nn.ReLU", "torch.nn.ReLU6")
"""Operations that give 0 for all below it, and let no gradient through there."""


@question(start=None, unknown=None)
def zeros(value: Value | None) -> tuple[Op, str] | None:
    """Why a value can be exactly 0, and the operation that makes it so; None where that is not certain."""
    value = unwrapped(value)
    if not isinstance(value, Op) or value.written:
        return None
    if value.name in RELUS:
        return value, "everything below 0 becomes 0 here"
    match value:
        case Op(name="-" | "sub", inputs=(Constant(value=1 | 1.0), other)):
            return _ones(unwrapped(other))
        case Op(name="+" | "add", inputs=(other, Constant(value=float(small)))) if (
            small and _single(small) == 0
        ):
            found = unwrapped(other)
            if isinstance(found, Op) and (found.name in ("softmax", "sigmoid") or zeros(found)):
                return found, f"{small} is 0 in float32"
    return None


def _ones(value: Value | None) -> tuple[Op, str] | None:
    """Why a value can be exactly 1."""
    if not isinstance(value, Op) or value.written:
        return None
    if value.name in ("softmax", "sigmoid"):
        return value, "a large score makes this exactly 1"
    if value.name in CLAMPS and value.name != "clamp_min":
        bound = value.option(1 if value.name == "clamp_max" else 2, "max")
        if (
            isinstance(bound, Constant)
            and isinstance(bound.value, float)
            and bound.value < 1 == _single(bound.value)
        ):
            return value, f"the upper bound {bound.value!r} is 1 in float32"
    return None


def _single(number: float) -> float:
    """A number as float32 has it."""
    try:
        return float(struct.unpack("f", struct.pack("f", number))[0])
    except OverflowError:
        return number


def unwrapped(value: Value | None) -> Value | None:
    """What a value was before operations that keep what it means, as far back as nothing was written into it."""
    while isinstance(value, Op) and (value.name in KEEPS or value.name == "output") and value.inputs:
        spend()
        if value.written:
            return None
        value = value.inputs[0]
    return value
