"""Terms of a loss that teach nothing: what should learn from them is detached, and all other gradients are thrown away."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from trainlint.facts.api.classes import OPTIMIZER, PARAMETER
from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.attachment import attachment, cuts, terms
from trainlint.facts.ask.holding import has_parameters
from trainlint.facts.ask.stepped import certainly_clears, numbers_held
from trainlint.facts.model.events.event import Event
from trainlint.facts.model.events.steps import Backward, OptimizerStep, ZeroGrad
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, Op, Value

_DETACHES = ("detach", "detach_", "data")


class Wasted(NamedTuple):
    """A cut in a term, the step that follows the backward, and what clears the gradients that the term does give."""

    cut: Op
    backward: Backward
    step: OptimizerStep
    clear: ZeroGrad


def wasted_terms(training: Training) -> Iterator[Wasted]:
    """As of a generator's loss through a discriminator that is given a detached image, whose own gradients are cleared
    before it steps."""
    if sum(one.is_a(OPTIMIZER) for one in training.objects) < 2:
        return
    for backward in training.events(Backward):
        summed = terms(backward.loss)
        for term in summed if len(summed) > 1 else ():
            recorded = list(reached([term], _recorded))
            found = [one for one in recorded if isinstance(one, Op) and _is_first_cut(one)]
            clear = (
                _thrown_away(training, backward, recorded)
                if found and not attachment(term).uncertain
                else None
            )
            if clear is None:
                continue
            for cut in found:
                step = _should_teach(training, backward, cut)
                if step is not None:
                    yield Wasted(cut, backward, step, clear)


def _recorded(value: Value) -> Iterable[Value]:
    """What a value is made of, as far as gradients go."""
    return () if isinstance(value, Op) and cuts(value) else value.parts()


def _is_first_cut(op: Op) -> bool:
    """Whether it detaches what has a graph up to here: labels, and what has been detached before, have none."""
    return op.name in _DETACHES and attachment(op.inputs[0]).attached


def _thrown_away(training: Training, backward: Backward, recorded: list[Value]) -> ZeroGrad | None:
    """What clears all gradients that a term gives before any optimizer uses them; None where that is not certain."""
    if any(isinstance(one, Op) and one.name in (PARAMETER, "parameters") for one in recorded):
        return None
    layers = {one.owner for one in recorded if isinstance(one, Op) and _learns(one.owner)}
    optimizers = [one for one in training.objects if one.is_a(OPTIMIZER)]
    clears: list[ZeroGrad] = []
    for layer in layers:
        holders = [one for one in optimizers if layer.uid in numbers_held(training, one)] if layer else []
        if len(holders) != 1:
            return None
        following = list(_following(training, backward, holders[0]))
        if not following or not all(isinstance(one, ZeroGrad) for one in following):
            return None
        clears += [one for one in following if isinstance(one, ZeroGrad)]
    return clears[0] if clears else None


def _learns(owner: Object | None) -> bool:
    return owner is not None and has_parameters(owner) is not False


def _following(training: Training, backward: Backward, optimizer: Object) -> Iterator[Event]:
    """In each possible order, what first uses or clears the gradients of an optimizer after a backward."""
    for run in training.runs(Backward, OptimizerStep, ZeroGrad):
        for number, event in enumerate(run):
            if event is backward:
                yield from itertools.islice(
                    (one for one in run[number + 1 :] if _concerns(one, optimizer)), 1
                )


def _concerns(event: Event, optimizer: Object) -> bool:
    if isinstance(event, OptimizerStep):
        return event.optimizer is optimizer
    return isinstance(event, ZeroGrad) and certainly_clears(event.target, optimizer)


def _should_teach(training: Training, backward: Backward, cut: Op) -> OptimizerStep | None:
    """The step after a backward of an optimizer that holds a layer before a cut."""
    before = {one.owner.uid for one in reached([cut]) if isinstance(one, Op) and one.owner is not None}
    for run in training.runs(Backward, OptimizerStep, ZeroGrad):
        is_after = False
        for event in run:
            if isinstance(event, Backward):
                is_after = event is backward
            elif (
                is_after
                and isinstance(event, OptimizerStep)
                and not before.isdisjoint(numbers_held(training, event.optimizer))
            ):
                return event
    return None
