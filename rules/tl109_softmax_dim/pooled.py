"""Attention pooling: one score for each item, normalised along another axis than the one that the items are summed along."""

from __future__ import annotations

from collections.abc import Iterator

from trainlint.facts.ask.asking import question, reached
from trainlint.facts.model.events.event import Returned
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.events.operations import Operation
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Choice, Op, Value, alternatives, constant

_KEEPS = frozenset("output dropout tanh relu leaky_relu to float masked_fill".split())
"""Operations that leave each score where it is."""
_LAST = frozenset(("squeeze", "unsqueeze"))


def pooled(training: Training) -> Iterator[tuple[Op, int, Op, int]]:
    """Each softmax of such scores, the axis that it normalises, the sum, and the axis that this is over."""
    found = {one.output.uid for one in training.events(Operation) if _is_of_single_scores(one.output)}
    if not found:
        return
    ends = [one.output for one in training.events(LossCall)]
    ends += (one.value for one in training.events(Returned))  # type: ignore[misc]
    for one in reached(ends):
        if isinstance(one, Op) and one.name == "sum" and one.inputs:
            axis = constant(one.option(1, "dim"))
            for ways in _weights(one.inputs[0]):
                dims = [constant(softmax.option(1, "dim")) for softmax in ways]
                if all(softmax.uid in found for softmax in ways) and all(
                    _are_others(dim, axis) for dim in dims
                ):
                    yield ways[0], dims[0], one, axis


def _is_of_single_scores(op: Op) -> bool:
    """Whether a softmax is over what a layer gives that has one output."""
    if op.name != "softmax" or not op.inputs or constant(op.option(1, "dim")) is None:
        return False
    score = _same_place(op.inputs[0])
    if not isinstance(score, Op) or score.name != "linear" or score.owner is None:
        return False
    return bool(constant(score.owner.argument(1, "out_features")) == 1)


def _weights(product: Value) -> Iterator[list[Op]]:
    """The softmaxes that a product weighs something with, as its weights may come about in several ways."""
    if isinstance(product, Op) and product.name in ("*", "mul") and len(product.inputs) == 2:
        for given in product.inputs:
            ways = [_same_place(one) for one in alternatives(given)]
            softmaxes = [one for one in ways if isinstance(one, Op) and one.name == "softmax"]
            if softmaxes:
                yield softmaxes


@question(start=None, unknown=None)
def _same_place(value: Value) -> Value | None:
    """What a value is of, before operations that leave all axes but the last where they are, on either side of a condition."""
    while (isinstance(value, Op) and value.inputs) or isinstance(value, Choice):
        if isinstance(value, Choice):  # masked or not
            ways = set(map(_same_place, alternatives(value)))
            return ways.pop() if len(ways) == 1 else None
        is_last = value.name in _LAST and constant(value.option(1, "dim")) == -1
        if value.name not in _KEEPS and not is_last:
            break
        value = value.inputs[0]
    return value


def _are_others(dim: object, axis: object) -> bool:
    """Whether two axes, counted from the first one, certainly are not the same."""
    if not isinstance(dim, int) or not isinstance(axis, int):
        return False
    return dim >= 0 and axis >= 0 and dim != axis
