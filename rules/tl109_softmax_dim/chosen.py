"""A class that is chosen for each sample among what was normalised over the samples."""

from __future__ import annotations

from collections.abc import Iterator

from trainlint.facts.ask.asking import reached
from trainlint.facts.model.elements import number_of
from trainlint.facts.model.events.operations import ToHost
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Op

from .classes import is_of_pairs

_KEEPS = frozenset("output data detach to cpu cuda float log alias contiguous".split())


def chosen_elsewhere(training: Training, over_first: list[Op]) -> Iterator[tuple[Op, Op, int]]:
    """Of softmaxes over the first axis, those whose class is chosen along another; the choice, and its axis. Similarities of
    pairs may be normalised along either."""
    found = {one.uid for one in over_first if not is_of_pairs(one)}
    if not found:
        return
    ends = [one.tensor for one in training.events(ToHost)]
    ends += [one.value for one in training.handed_out()]
    for op in reached(ends):
        if isinstance(op, Op) and op.name in ("argmax", "max") and op.inputs:
            axis, softmax = number_of(op.option(1, "dim")), op.inputs[0]
            while isinstance(softmax, Op) and softmax.inputs and softmax.name in _KEEPS:
                softmax = softmax.inputs[0]
            if isinstance(axis, int) and axis > 0 and isinstance(softmax, Op) and softmax.uid in found:
                yield softmax, op, axis
