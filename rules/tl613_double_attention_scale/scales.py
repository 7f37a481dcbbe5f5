"""Factors on queries and keys that are powers of their width."""

from __future__ import annotations

from dataclasses import dataclass

from trainlint.facts.ask.asking import question
from trainlint.facts.ask.attention import SAME_VECTORS
from trainlint.facts.model.effort import spend
from trainlint.facts.model.elements import number_of, plain
from trainlint.facts.model.values import Constant, Op, Value

_ROOTS = {"sqrt": 0.5, "math.sqrt": 0.5, "numpy.sqrt": 0.5, "rsqrt": -0.5}
_SMALLEST_WIDTH = 8


@dataclass(frozen=True)
class Scale:
    """A factor that is a power of a width, such as `width ** -0.5`."""

    op: Op
    power: float


def scales_of(value: Value | None) -> list[Scale] | None:
    """The scales on queries or keys, from where they are used back to the layer that makes them.

    None where something on the way is not known to be a scale.
    """
    found: list[Scale] = []
    while isinstance(value, Op):
        spend()
        step = plain(value)
        if step in ("*", "/") and len(value.inputs) == 2:
            first, second = value.inputs
            if _is_one(second):
                value = first
                continue
            is_first = step == "/" or power_of(first) is None
            power = power_of(second if is_first else first)
            if power is None:
                return None
            found.append(Scale(value, -power if step == "/" else power))
            value = first if is_first else second
        elif value.name in SAME_VECTORS and value.inputs:
            value = value.inputs[0]
        else:
            break
    return found


def _is_one(value: Value) -> bool:
    """Whether a factor changes nothing: the default of a `scale` that only some callers pass."""
    return isinstance(value, Constant) and value.value == 1 and not value.is_default


@question(start=None, unknown=None)
def power_of(value: Value) -> float | None:
    """To which power of a width a factor is: -0.5 for `1 / math.sqrt(width)`; None where it is no such thing."""
    match value:
        case Constant(value=float() as number) if not value.is_default and 0 < number < 1:
            width = number**-2
            return (
                -0.5 if width > _SMALLEST_WIDTH - 0.5 and abs(width - round(width)) < 1e-4 * width else None
            )
        case Constant(value=float() | int() as number) if number > 1:
            width = float(number) ** 2
            is_root = isinstance(number, float) and not value.is_default and width > _SMALLEST_WIDTH - 0.5
            return 0.5 if is_root and abs(width - round(width)) < 1e-4 * width else None
        case Op(name="**", inputs=(base, Constant(value=float() as power))) if _is_width(base):
            return power
        case Op(name="/", inputs=(Constant(value=1 | 1.0), inner)):
            found = power_of(inner)
            return -found if found is not None else None
        case Op(name="float_number" | "tensor", inputs=(inner, *_)):
            return power_of(inner)
        case Op() if value.name in _ROOTS and value.inputs and _is_width(value.inputs[0]):
            return _ROOTS[value.name]
    return None


def _is_width(value: Value) -> bool:
    number = number_of(value)
    return number is None or number >= _SMALLEST_WIDTH
