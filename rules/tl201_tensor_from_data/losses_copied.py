"""Losses of several tasks that are put into a new tensor, of which what is run backward is made: the weights learn, and the
model does not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from trainlint.facts.api.classes import MODULE
from trainlint.facts.api.gradients import NO_GRADIENT, REBUILDS
from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.attachment import attachment, cuts, terms
from trainlint.facts.ask.behind_losses import operations_behind
from trainlint.facts.ask.flow import made_of
from trainlint.facts.model.events.event import Escape, Returned
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.events.steps import Backward
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Items, Op, Value


class Copied(NamedTuple):
    """A new tensor of losses, and the backward pass that ends there instead of in them."""

    copy: Op
    backward: Backward


def copied_losses(training: Training) -> Iterator[Copied]:
    if isinstance(training, Recorded) or REBUILDS.isdisjoint(operations_behind(training)):
        return
    losses = {
        one.output.uid for one in training.events(LossCall) if one.output.records and _is_of_model(one.input)
    }
    kept = _kept(training)
    for backward in training.events(Backward):
        if not attachment(backward.loss).attached:
            continue  # what is cut off there is all of it
        for copy in reached([backward.loss], _recorded):
            if isinstance(copy, Op) and copy.name in REBUILDS and cuts(copy) and not copy.is_leaf:
                listed = copy.inputs[0]
                parts = listed.items if isinstance(listed, Items) else ()
                found = {term.uid for one in parts for term in terms(one)} & losses
                if found and kept.isdisjoint(found):
                    yield Copied(copy, backward)


def _kept(training: Training) -> frozenset[int]:
    """The numbers of what a backward pass goes through, or may go through out of sight."""
    begun = [one.loss for one in training.events(Backward)]
    begun += (one.value for one in training.events(Returned))
    begun += (value for one in training.events(Escape) for value in (*one.values, *one.tensors))
    return frozenset(one.uid for one in reached(begun, _recorded))


def _recorded(value: Value) -> Iterable[Value]:
    is_end = isinstance(value, Op) and (value.records is False or cuts(value) or value.name in NO_GRADIENT)
    return () if is_end else value.parts()


def _is_of_model(prediction: Value | None) -> bool:
    """Whether a loss is of what a module gives, or code that is not seen."""
    return prediction is not None and any(
        isinstance(one, Op) and (one.name == "call" or (one.owner is not None and one.owner.is_a(MODULE)))
        for one in made_of(prediction)
    )
