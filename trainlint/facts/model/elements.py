"""Arithmetic on what a mask holds somewhere, as far as it is known."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from trainlint.facts.api.attention import NOTHING_LEFT
from trainlint.facts.api.second_names import SYNONYMS
from trainlint.facts.model.values import Constant, Named, Op, Value

Element = float | int | bool | None
"""What a mask holds somewhere; None where that is not known."""

_TO_FLOAT = frozenset("float double half bfloat16".split())
_TO_INT = frozenset("int long byte short uint8".split())
_SAME_NUMBER = ("float_number", "int_number")
_INFINITE = {f"{sign}{name}" for sign in ("", "+", "-") for name in ("inf", "infinity")}
_LARGEST = 2**63
"""Integers of tensors stay below."""


def number_of(value: Value | None) -> Element:
    """The number that a value certainly is, infinities by any name included."""
    is_negative = False
    while isinstance(value, Op) and value.inputs and (_is_negation(value) or value.name in _SAME_NUMBER):
        is_negative ^= _is_negation(value)
        value = value.inputs[0]
    found = _plainly(value)
    return -found if is_negative and found is not None else found


def _is_negation(op: Op) -> bool:
    return op.name == "-" and len(op.inputs) == 1


def _plainly(value: Value | None) -> Element:
    match value:
        case Constant(value=bool() | int() | float() as number):
            return _in_range(number)
        case Constant(value=str(text)) if text.lower() in _INFINITE:
            return float(text)
        case Named(name="math.inf" | "numpy.inf" | "torch.inf" | "numpy.Inf"):
            return math.inf
        case Named(name="numpy.NINF"):
            return -math.inf
        case Op(name="getattr", options={"name": Constant(value="min")}, inputs=(Op(name="finfo"), *_)):
            return -math.inf
        case Op(name="getattr", options={"name": Constant(value="max")}, inputs=(Op(name="finfo"), *_)):
            return math.inf
    return None


def _in_range(number: Element) -> Element:
    return None if isinstance(number, int) and abs(number) >= _LARGEST else number


def plain(op: Op) -> str:
    """The name of an operation, whichever of its spellings the program uses."""
    name = op.name.removeprefix("numpy.").removesuffix("_")
    return SYNONYMS.get(name, name)


def _and(a: Element, b: Element) -> Element:
    if any(one is not None and not one for one in (a, b)):
        return False
    return None if a is None or b is None else True


def _or(a: Element, b: Element) -> Element:
    if any(one is not None and bool(one) for one in (a, b)):
        return True
    return None if a is None or b is None else False


def _times(a: Element, b: Element) -> Element:
    if (a == 0 and b is None) or (b == 0 and a is None):
        return 0.0
    if a is None or b is None:
        return None
    product = a * b
    return None if math.isnan(product) else _in_range(product)


def _plus(a: Element, b: Element) -> Element:
    low = [one for one in (a, b) if one is not None and one <= NOTHING_LEFT]
    if low:
        return low[0]
    return None if a is None or b is None else _in_range(a + b)


def _minus(a: Element, b: Element) -> Element:
    if a is None or b is None:
        return None
    difference = a - b
    return None if math.isnan(difference) else _in_range(difference)


def _over(a: Element, b: Element) -> Element:
    return None if a is None or b is None or not b or math.isinf(b) else a / b


BINARY: dict[str, Callable[..., Element]] = {
    "and": _and,
    "or": _or,
    "*": _times,
    "+": _plus,
    "-": _minus,
    "/": _over,
}


def _known(work: Callable[[Any], Element]) -> Callable[[Element], Element]:
    return lambda x: None if x is None else work(x)


def _logarithm(x: float) -> float:
    return math.log(x) if x > 0 else -math.inf


UNARY: dict[str, Callable[[Element], Element]] = {
    "not": _known(lambda x: not x),
    "-": _known(lambda x: -x),
    "log": _known(_logarithm),
    "bool": _known(bool),
    **dict.fromkeys(_TO_FLOAT, _known(float)),
    **dict.fromkeys(_TO_INT, _known(lambda x: int(x) if abs(x) < 1e6 else x)),
}
