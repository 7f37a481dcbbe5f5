"""Gradients of one loss that are cleared before the next one is computed, where both are for one step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainlint.facts.ask.flow import is_made_of, made_of
from trainlint.facts.ask.stepped import certainly_clears
from trainlint.facts.ask.trained_by import may_train
from trainlint.facts.model.events.event import Escape, Event
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.events.parameters import GradientSet, ParametersRead
from trainlint.facts.model.events.steps import Backward, Clip, OptimizerStep, ZeroGrad
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, Op, Value, alternatives

Wiped = tuple[Backward, ZeroGrad, Backward, OptimizerStep]


def thrown_away(training: Training) -> Iterator[Wiped]:
    """A loss, the call that clears its gradients though nothing has used them, the loss that comes next, and the step that has
    the gradients of that one alone."""
    if len(training.events(Backward)) < 2:
        return
    kinds = (Backward, OptimizerStep, ZeroGrad, ParametersRead, GradientSet, Clip, Escape)
    found: dict[int, Wiped] = {}
    for run in training.runs(*kinds):
        events = [one for one in run if not isinstance(one, Escape) or _hands_out_modules(one)]
        for position in range(1, len(events)):
            wiped = _wiped(training, events, position)
            if wiped is not None:
                found.setdefault(id(events[position]), wiped)
    yield from found.values()


def _wiped(training: Training, events: Sequence[Event], position: int) -> Wiped | None:
    first, clear, rest = events[position - 1], events[position], events[position + 1 :]
    if not (isinstance(first, Backward) and isinstance(clear, ZeroGrad) and rest):
        return None
    second = rest[0]
    step = next((one for one in rest if not isinstance(one, Backward)), None)
    if not (isinstance(second, Backward) and isinstance(step, OptimizerStep)):
        return None
    is_one_step = first.loops == clear.loops == second.loops == step.loops and first.at != second.at
    if not is_one_step or not training.is_after(clear, first) or not training.is_after(step, clear):
        return None
    trains_both = may_train(training, first, step.optimizer) and may_train(training, second, step.optimizer)
    if not trains_both or not certainly_clears(clear.target, step.optimizer):
        return None
    return (first, clear, second, step) if _is_loss(training, first) else None


def _is_loss(training: Training, backward: Backward) -> bool:
    """Whether gradients are computed of a loss, for parameters alone: those of an input, or of a score, are looked at."""
    if backward.inputs is not None or backward.by_framework:
        return False
    if any(isinstance(one, Op) and one.is_leaf for one in made_of(backward.loss)):
        return False
    return any(is_made_of(backward.loss, one.output) for one in training.events(LossCall))


def _hands_out_modules(escape: Escape) -> bool:
    values: Sequence[Value] = escape.values
    return any(isinstance(one, Object) for value in values for one in alternatives(value))
