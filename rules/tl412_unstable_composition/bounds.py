"""Values that cannot grow large, whatever goes in."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from trainlint.facts.api.meanings import CLAMPS, KEEPS
from trainlint.facts.ask.asking import question, reached
from trainlint.facts.ask.attachment import attachment
from trainlint.facts.model.effort import spend
from trainlint.facts.model.values import Choice, Constant, Guards, Op, Value, alternatives

_NEVER_NEGATIVE = frozenset("abs builtins.abs relu square exp softplus sigmoid softmax norm sqrt".split())
_NEVER_POSITIVE = frozenset("log_softmax logsigmoid".split())
_INNER_PRODUCTS = frozenset("@ mm bmm matmul einsum".split())
_PRODUCTS = frozenset("* / mul div - neg".split())
_COMPARISONS = frozenset("< <= > >=".split())
_GREATEST = frozenset("max amax maximum logsumexp builtins.max".split())


def is_bounded_above(value: Value, guards: Guards = ()) -> bool:
    """Whether a value certainly has an upper bound, is the difference of two that were compared before, or is made of the
    elements that a comparison has chosen: `x[x < 30]`."""
    value = _unscaled(value)
    if _are_chosen_by_size(value):
        return True
    match value:
        case Op(name="-" | "sub", inputs=(_, other)) if _is_greatest(other) or _are_compared(guards):
            return True
        case Op(name="clamp_max"):
            return True
        case Op() if value.name in CLAMPS:
            return value.option(2, "max") is not None
    return _sign(value) == -1


def _are_chosen_by_size(value: Value) -> bool:
    factors = reached(
        [value], lambda one: one.inputs if isinstance(one, Op) and one.name in _PRODUCTS else ()
    )
    return any(isinstance(one, Op) and _compares_elements(one.options.get("index")) for one in factors)


def _compares_elements(index: Value | None) -> bool:
    return any(isinstance(one, Op) and one.name in _COMPARISONS for one in alternatives(index))


def is_cosine(value: Value) -> bool:
    """Whether a value is at most a cosine, or one by a temperature and less a shift: no exponential of it is infinite."""
    while True:
        value = _plain(value)
        match value:
            case Op(name="/" | "div" | "*" | "-", inputs=(one, other)) if attachment(other).is_nothing:
                value = one
            case Op() if value.name in _INNER_PRODUCTS:
                factors = [_plain(one) for one in value.inputs if not isinstance(one, Constant)]
                return all(isinstance(one, Op) and one.name == "normalize" for one in factors)
            case _:
                return False


@question(start=0, unknown=0)
def _sign(value: Value) -> int:
    """1 for what is never negative, -1 for what is never positive, 0 where that is not known."""
    value = _plain(value)
    match value:
        case Constant(value=int() | float() as number) if not isinstance(number, bool):
            return 1 if number >= 0 else -1
        case Choice():
            return _all_alike(alternatives(value))
        case Op(name="-" | "neg", inputs=(one,)):
            return -_sign(one)
        case Op(name="*" | "/" | "mul" | "div", inputs=(one, other)):
            return 1 if one is other else _sign(one) * _sign(other)
        case Op(name="+" | "add", inputs=(one, other)):
            return _all_alike((one, other))
        case Op(name="-" | "sub", inputs=(one, other)):
            return _sign(one) if _sign(one) == -_sign(other) else 0
        case Op(name="pow" | "**", inputs=(_, Constant(value=int() as power))) if power % 2 == 0:
            return 1
        case Op() if value.name in _NEVER_NEGATIVE:
            return 1
        case Op() if value.name in _NEVER_POSITIVE:
            return -1
    return 0


def _all_alike(values: Iterable[Value]) -> int:
    found = {_sign(one) for one in values}
    return found.pop() if len(found) == 1 else 0


def _is_greatest(value: Value) -> bool:
    value = _plain(value)
    match value:
        case Op(name="getattr", inputs=(one,), options={"name": Constant(value="values")}):
            value = _plain(one)
    return isinstance(value, Op) and value.name in _GREATEST


def _unscaled(value: Value) -> Value:
    """What a value was before operations that keep what it means, and before factors above 0."""
    while True:
        value = _plain(value)
        match value:
            case (
                Op(name="*" | "/" | "mul" | "div", inputs=(one, Constant(value=int() | float() as factor)))
                | Op(name="*" | "mul", inputs=(Constant(value=int() | float() as factor), one))
            ) if factor > 0:
                value = one
            case _:
                return value


def _plain(value: Value) -> Value:
    """What a value was before operations that keep what it means."""
    while isinstance(value, Op) and value.name in KEEPS and value.inputs:
        spend()
        value = value.inputs[0]
    return value


def _are_compared(guards: Guards) -> bool:
    """Whether one of the conditions says which of two values is the larger one, such as `a >= b`."""
    return any(_compares(condition) for condition, _ in guards)


def _compares(condition: Any) -> bool:
    match condition:
        case ("<" | "<=" | ">" | ">=", (one, *_), (other, *_)):
            return "constant" not in (one, other)
    return False
