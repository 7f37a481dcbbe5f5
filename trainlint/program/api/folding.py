"""Arithmetic and comparison of constants."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from trainlint import limits
from trainlint.facts.ask.numbers import is_whole
from trainlint.facts.model.values import (
    Constant,
    Items,
    Op,
    Value,
)
from trainlint.program.api import lengths
from trainlint.program.evaluate import conditions

_FOLDED: dict[str, Callable[..., Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def fold(name: str, operands: tuple[Value, ...]) -> Value | None:
    """Arithmetic and comparison of constants; None where it cannot be done."""
    operands = tuple(map(lengths.read, operands))
    if name in ("is", "is not", "==", "!=") and len(operands) == 2:
        same = False if _are_device_and_text(*operands) else _identical(operands[0], operands[1])
        if same is not None:
            return Constant(value=same == (name in ("is", "==")))
    if name in ("in", "not in") and isinstance(operands[1], Items):
        return _held(name, operands[0], operands[1])
    values = [one.value for one in operands if isinstance(one, Constant) and not one.is_default]
    if name == "%" and len(operands) == 2 and values[-1:] == [1] and is_whole(operands[0]):
        return Constant(value=0)
    if len(values) != len(operands):
        return None
    if name == "not":
        return Constant(value=not values[0])
    if name in ("in", "not in") and isinstance(values[1], str) and isinstance(values[0], str):
        return Constant(value=(values[0] in values[1]) == (name == "in"))
    if (
        name not in _FOLDED
        or len(values) != 2
        or not all(isinstance(one, (int, float, str)) for one in values)
    ):
        return None
    if any(map(_is_large, values)) or (
        name in "*%" and not all(isinstance(one, (int, float)) for one in values)
    ):
        return None
    try:
        return Constant(value=_FOLDED[name](*values))
    except (TypeError, ValueError, ArithmeticError):
        return None


def _held(name: str, asked: Value, among: Items) -> Value | None:
    """Whether a constant is one of those in a list: `key in ("ids", "mask")`."""
    given = [asked, *among.items]
    known = [one.value for one in given if isinstance(one, Constant) and not one.is_default]
    if len(known) != len(given) or not among.exact:
        return None
    return Constant(value=(known[0] in known[1:]) == (name == "in"))


def _is_large(value: object) -> bool:
    """Whether a constant is too large to be a setting."""
    if isinstance(value, str):
        return len(value) > limits.MAX_TEXT
    return isinstance(value, int) and value.bit_length() > limits.MAX_BITS


def _are_device_and_text(first: Value, second: Value) -> bool:
    """Whether a `torch.device` is compared with a text: they are never equal."""
    match (first, second):
        case (Op(name="device"), Constant(value=str())) | (Constant(value=str()), Op(name="device")):
            return True
    return False


def _identical(first: Value, second: Value) -> bool | None:
    """Whether two values certainly are, or certainly are not, the same; None where that is open."""
    for one, other in ((first, second), (second, first)):
        if conditions.is_none(one):
            return conditions.is_none(other)
    return None


_OF_TEXT = {
    **dict.fromkeys(("capitalize", "casefold", "lower", "strip", "title", "upper"), 0),
    **dict.fromkeys(("endswith", "removeprefix", "removesuffix", "startswith"), 1),
}
"""Methods of a text that give one like it, or a truth: how many texts they are given."""


def of_text(value: Value, name: str, given: Sequence[Value]) -> Constant | None:
    """What a method of a text gives, where all of it is written out: `"Adam".lower()`."""
    if _OF_TEXT.get(name) != len(given):
        return None
    texts = [
        one.value
        for one in (value, *given)
        if isinstance(one, Constant) and isinstance(one.value, str) and not one.is_default
    ]
    return Constant(value=getattr(str, name)(*texts)) if len(texts) == len(given) + 1 else None
