"""Optimizers that step twice in an iteration, the second time with the gradients of the first as well."""

from __future__ import annotations

from typing import NamedTuple

from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.attachment import cuts
from trainlint.facts.ask.interference import may_set_gradients, may_touch
from trainlint.facts.ask.stepped import numbers_held, same_parameters
from trainlint.facts.model.events.event import Event
from trainlint.facts.model.events.steps import Backward, OptimizerStep, ZeroGrad
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, Op, Value


class Again(NamedTuple):
    """A step, and the one before it whose gradients it uses again, with the backward that gave these."""

    step: OptimizerStep
    first: OptimizerStep
    backward: Backward


def used_again(training: Training, step: OptimizerStep) -> Again | None:
    """`zero_grad`, backward, step, backward, step: between the two passes nothing clears."""
    steps = training.events(OptimizerStep)
    before = [one for one in steps[: steps.index(step)] if one.optimizer is step.optimizer]
    if not before or not isinstance(step.optimizer, Object) or not training.is_after(step, before[-1]):
        return None
    if _may_be_cleared(training, before[-1], step):
        return None
    backward = _given_by(training, before[-1], step)
    return Again(step, before[-1], backward) if backward is not None else None


def _may_be_cleared(training: Training, first: OptimizerStep, step: OptimizerStep) -> bool:
    every, loop = training.events(Event), step.loops[-1]
    between = every[every.index(first) : every.index(step)]
    targets = dict.fromkeys(one.target for one in between if isinstance(one, ZeroGrad))
    if step.optimizer in targets or any(same_parameters(one, step.optimizer) for one in targets):
        return True
    return may_set_gradients(training, loop) or may_touch(training, step.optimizer, loop)


def _given_by(training: Training, first: OptimizerStep, step: OptimizerStep) -> Backward | None:
    """The pass before the first step that gave its gradients, if another one follows before the second step, in an order
    that the conditions allow."""
    held = numbers_held(training, step.optimizer)
    for run in training.runs(Backward, OptimizerStep, ZeroGrad):
        if first not in run or step not in run[run.index(first) :]:
            continue
        start, end = run.index(first), run.index(step, run.index(first))
        if any(
            isinstance(one, ZeroGrad) and same_parameters(one.target, step.optimizer)
            for one in run[start:end]
        ):
            continue
        given = [one for one in run[:start] if isinstance(one, Backward)]
        goes_on = any(isinstance(one, Backward) and one.accumulates for one in run[start:end])
        if goes_on and given and _reaches(given[-1].loss, held):
            return given[-1]
    return None


def _reaches(loss: Value, held: frozenset[int]) -> bool:
    """Whether a loss is made by one of some modules, on a way that gradients take."""
    return any(
        isinstance(one, Op) and one.owner is not None and one.owner.uid in held
        for one in reached([loss], lambda one: () if isinstance(one, Op) and cuts(one) else one.parts())
    )
