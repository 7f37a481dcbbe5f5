"""Attention pooling: one score for each item, normalised along another axis than the one that the items are summed along."""

from __future__ import annotations

from collections.abc import Iterator

from trainlint.facts.ask.asking import reached
from trainlint.facts.model.events.event import Returned
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.events.operations import Operation
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Op, Value, constant

_KEEPS = frozenset("output dropout tanh relu leaky_relu to float".split())
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
            for softmax in _weights(one.inputs[0]):
                dim = constant(softmax.option(1, "dim"))
                if softmax.uid in found and _are_others(dim, axis):
                    yield softmax, dim, one, axis


def _is_of_single_scores(op: Op) -> bool:
    """Whether a softmax is over what a layer gives that has one output."""
    if op.name != "softmax" or not op.inputs or constant(op.option(1, "dim")) is None:
        return False
    score = _same_place(op.inputs[0])
    if not isinstance(score, Op) or score.name != "linear" or score.owner is None:
        return False
    return bool(constant(score.owner.argument(1, "out_features")) == 1)


def _weights(product: Value) -> Iterator[Op]:
    """The softmaxes that a product weighs something with."""
    if isinstance(product, Op) and product.name in ("*", "mul") and len(product.inputs) == 2:
        for one in map(_same_place, product.inputs):
            if isinstance(one, Op) and one.name == "softmax":
                yield one


def _same_place(value: Value) -> Value:
    """What a value is of, before operations that leave all axes but the last where they are."""
    while isinstance(value, Op) and value.inputs:
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
