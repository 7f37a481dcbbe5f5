"""Probabilities that are normalised over the samples of a batch."""

from __future__ import annotations

from collections.abc import Iterator

from trainlint.facts.model.elements import number_of, plain
from trainlint.facts.model.events.operations import Operation
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Op, Value, alternatives

from .layout import axes, begins_with_batch

_SAME = frozenset("output squeeze to cpu float".split())


def over_the_batch(training: Training) -> Iterator[tuple[Operation, int]]:
    """Each softmax over the first axis that is what a function returns for a batch, and how many axes it has. Weights of a
    sum over samples may be meant so, and are not returned alone."""
    returned = {one.uid for event in training.handed_out() for one in _ways(event.value)}
    for event in training.events(Operation):
        op = event.output
        dim = op.option(1, "dim") or (op.owner.argument(0, "dim") if op.owner is not None else None)
        if op.name in ("softmax", "log_softmax") and number_of(dim) == 0 and op.uid in returned and op.inputs:
            count = axes(op.inputs[0])
            if count is not None and begins_with_batch(op.inputs[0]):
                yield event, count


def _ways(value: Value) -> Iterator[Op]:
    for one in alternatives(value):
        while isinstance(one, Op):
            yield one
            if plain(one) not in _SAME or not one.inputs:
                break
            one = one.inputs[0]
