"""Numbers as sums of what is not known and a constant, so that the unknown can cancel out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from hashlib import sha256
from typing import NamedTuple

from trainlint.facts.ask.asking import question
from trainlint.facts.model.effort import spend
from trainlint.facts.model.values import Constant, Op, Value


class Sum(NamedTuple):
    """Unknown summands, each with how often it stands there, and a number."""

    summands: frozenset[tuple[Hashable, int]] = frozenset()
    number: int = 0


@question(start=None, unknown=None)
def summed(value: Value) -> Sum | None:
    """A number as a sum, of itself where nothing is added."""
    match value:
        case Constant(value=int(number)) if not isinstance(value.value, bool):
            return Sum(number=number)
        case Op(name="+" | "-" as sign, inputs=(one, other)):
            first, second = summed(one), summed(other)
            return added(first, second, 1 if sign == "+" else -1) if first and second else None
    same = _spelling(value)
    return Sum(frozenset({(same, 1)})) if same is not None else None


def added(first: Sum, second: Sum, sign: int = 1) -> Sum:
    spend(len(first.summands) + len(second.summands))
    times = Counter(dict(first.summands))
    for same, count in second.summands:
        times[same] += sign * count
    kept = frozenset((same, count) for same, count in times.items() if count)
    return Sum(kept, first.number + sign * second.number)


_FOLLOWS = frozenset("* + - // iterate getitem int_number item".split())
"""Operations that give the same of the same."""


@question(start=None, unknown=None)
def _spelling(value: Value) -> Hashable:
    """The same, and of few letters, for values that are certainly equal: made the same way of the same things."""
    if isinstance(value, Constant):
        return _short("constant", repr(value.value))
    if not isinstance(value, Op) or value.name not in _FOLLOWS:
        return value.uid
    held = [_spelling(one) for one in value.parts()]
    return _short(value.name, *held) if None not in held else None


def _short(*held: Hashable) -> str:
    return sha256(repr(held).encode()).hexdigest()
