"""Probabilities that are normalised over the samples of a batch."""

from __future__ import annotations

from collections.abc import Iterator

from trainlint.facts.ask.asking import reached
from trainlint.facts.model.elements import plain
from trainlint.facts.model.events.operations import Operation
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Items, Op, Value, alternatives

from .layout import axes, begins_with_batch

_SAME = frozenset("output squeeze to cpu float".split())


def over_the_batch(training: Training, over_first: list[Operation]) -> Iterator[tuple[Operation, int | None]]:
    """Of softmaxes over the first axis, those that are what a function returns for a batch, and how many axes each has, where
    that is known. Weights of a sum over samples may be meant so, and are not returned without the sum."""
    found = [one for one in over_first if begins_with_batch(one.output.inputs[0])]
    if not found:
        return
    returned = {one.uid for event in training.handed_out() for one in _given_back(event.value)}
    for event in found:
        if event.output.uid in returned:
            yield event, axes(event.output.inputs[0])


def _given_back(value: Value) -> Iterator[Op]:
    """What a function returns, alone or in a tuple of which nothing else is made of it."""
    for one in alternatives(value):
        if not isinstance(one, Items):
            yield from _ways(one)
            continue
        for n, part in enumerate(one.items):
            others = [other for m, other in enumerate(one.items) if m != n]
            used = {piece.uid for piece in reached(others)}
            yield from (way for way in _ways(part) if way.uid not in used)


def _ways(value: Value) -> Iterator[Op]:
    for one in alternatives(value):
        while isinstance(one, Op):
            yield one
            if plain(one) not in _SAME or not one.inputs:
                break
            one = one.inputs[0]
