"""Masks of which only an average over positions says what they hold, `(x * mask).sum(1) / mask.sum(1)` counts real tokens,
or a sum, `(x * mask).sum(1)`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from trainlint.facts.api.losses import LOSS_FUNCTIONS
from trainlint.facts.ask.asking import question, reached
from trainlint.facts.model.effort import spend
from trainlint.facts.model.elements import number_of, plain
from trainlint.facts.model.events.event import Returned
from trainlint.facts.model.events.operations import Operation
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Constant, Items, Op, Unknown, Value, constant

_SAME = frozenset(
    "unsqueeze to type type_as float double half bfloat16 int long bool expand expand_as contiguous view reshape".split()
)
"""Operations after which a mask stands for the same positions."""

_AT_LEAST = frozenset("clamp clamp_min maximum + add".split())
_MOST = 300


class Chosen(NamedTuple):
    """What a mask is made of, and whether it is the opposite of that."""

    base: Value
    is_inverted: bool


class Pooled(NamedTuple):
    """An average or a sum over the positions that a mask chooses, and what of."""

    op: Op
    by: Chosen
    of: Value


def keeps(training: Training, mask: Value, attended: Op) -> tuple[bool, Op] | None:
    """Whether a mask holds True at real tokens, and the average or sum over what attention gave which says so; None where none
    does."""
    asked = _chosen(mask)
    for one in _pools(training):
        into = _but_errors if one.op.name == "sum" else None
        if one.by.base is asked.base and any(part is attended for part in reached([one.of], into, _MOST)):
            return one.by.is_inverted is asked.is_inverted, one.op
    return None


@question(start=(), unknown=())
def _pools(training: Training) -> tuple[Pooled, ...]:
    made = (_pooled(one.output) for one in training.events(Operation) if plain(one.output) == "/")
    averages = tuple(one for one in made if one is not None)
    return (*averages, *_sums(training))


def _sums(training: Training) -> Iterator[Pooled]:
    """What is given back and summed over one axis where a mask is 1: all others count for nothing."""
    given = [one.value for one in training.events(Returned)]
    for value in reached(given, most=_MOST):
        if isinstance(value, Op) and value.name == "sum" and _is_over_an_axis(value):
            for of, weight in _weighted(value.inputs[0]):
                if isinstance(weight.base, (Op, Unknown)):
                    yield Pooled(value, weight, of)


def _but_errors(value: Value) -> Sequence[Value]:
    """What a value is made of that is no error: errors may be summed where a mask hides, to learn what is there."""
    if isinstance(value, Op) and (plain(value) == "-" or value.name in LOSS_FUNCTIONS):
        return ()
    return value.parts()


def _is_over_an_axis(total: Op) -> bool:
    return isinstance(constant(total.option(1, "dim")), int)


def _pooled(op: Op) -> Pooled | None:
    if len(op.inputs) != 2:
        return None
    total, count = _summed(op.inputs[0]), op.inputs[1]
    while isinstance(count, Op) and plain(count) in _AT_LEAST and count.inputs:
        count = count.inputs[0]
    counted = _summed(count)
    if total is None or counted is None:
        return None
    by = _chosen(counted)
    for of, weight in _weighted(total):
        if weight == by and isinstance(by.base, (Op, Unknown)):
            return Pooled(op, by, of)
    return None


def _summed(value: Value) -> Value | None:
    return value.inputs[0] if isinstance(value, Op) and value.name == "sum" and value.inputs else None


def _weighted(value: Value) -> list[tuple[Value, Chosen]]:
    """What may be weighted with what: either side of a product, or what is filled with zeros where a mask is True."""
    if not isinstance(value, Op):
        return []
    step = plain(value)
    if step == "*" and len(value.inputs) == 2:
        first, second = value.inputs
        return [(first, _chosen(second)), (second, _chosen(first))]
    mask = value.option(1, "mask") if step == "masked_fill" else None
    if mask is not None and number_of(value.option(2, "value")) == 0:
        left_out = _chosen(mask)
        return [(value.inputs[0], left_out._replace(is_inverted=not left_out.is_inverted))]
    return []


def _chosen(value: Value) -> Chosen:
    """A mask without what only gives it another shape or type, or inverts it."""
    is_inverted = False
    while isinstance(value, Op) and value.inputs and not value.written:
        spend()
        step = plain(value)
        if step == "not":
            is_inverted = not is_inverted
        elif step == "-" and len(value.inputs) == 2 and number_of(value.inputs[0]) == 1:
            is_inverted = not is_inverted
            value = value.inputs[1]
            continue
        elif step in ("==", "!=") and number_of(value.inputs[1]) == 0:
            is_inverted ^= step == "=="
        elif step not in _SAME and not _is_widened(value):
            break
        value = value.inputs[0]
    return Chosen(value, is_inverted)


def _is_widened(op: Op) -> bool:
    """`mask[:, :, None]`, which only adds axes."""
    index = op.option(1, "index") if op.name == "getitem" else None
    return isinstance(index, Items) and all(map(_is_whole_or_new, index.items))


def _is_whole_or_new(index: Value) -> bool:
    if isinstance(index, Op) and index.name == "[:]":
        return all(isinstance(one, Constant) and one.value is None for one in index.inputs)
    return isinstance(index, Constant) and index.value in (None, ...)
