"""Steps of another optimizer than the one that holds what the loss before them trains."""

from __future__ import annotations

from collections.abc import Iterator

from trainlint.facts.api.classes import OPTIMIZER
from trainlint.facts.ask.escapes import given_to_trainers
from trainlint.facts.ask.helpers import is_in_sight
from trainlint.facts.ask.interference import may_step, uses_gradients
from trainlint.facts.ask.stepped import modules_held, numbers_held, same_parameters
from trainlint.facts.ask.trained_by import trained, trains_others
from trainlint.facts.model.events.event import Event
from trainlint.facts.model.events.steps import Backward, OptimizerStep
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, alternatives
from trainlint.finding import Because, Finding


def other_stepped(training: Training) -> Iterator[Finding]:
    """`critic_optimizer.step()` after the loss of the actor, whose own optimizer never steps."""
    idle = list(_never_stepped(training))
    for backward, step in _pairs(training) if idle else ():
        if not trains_others(training, backward, step.optimizer) or not _has_its_own(training, step):
            continue
        reached = trained(backward.loss)
        meant = next((one for one in idle if not reached.isdisjoint(numbers_held(training, one))), None)
        if meant is None or meant.at is None or uses_gradients(training, backward.loops[-1]):
            continue
        if not may_step(training, meant, backward.loops[-1]):
            yield Finding(
                step.at,
                "This optimizer steps after a loss that reaches none of its parameters, and the one that holds those which "
                "the loss does reach never steps, so they never change. Call `step()` of that one here.",
                (
                    Because(backward.at, "`backward()` starts here"),
                    Because(meant.at, "this optimizer holds what it reaches, and never steps"),
                ),
                is_shown_by_runs=False,
            )


def _has_its_own(training: Training, step: OptimizerStep) -> bool:
    """Whether another loss trains what an optimizer holds: else it may have come in the place of the one that never steps."""
    held = numbers_held(training, step.optimizer)
    return any(not trained(one.loss).isdisjoint(held) for one in training.events(Backward))


def _never_stepped(training: Training) -> Iterator[Object]:
    """The optimizers of which all is in sight, and of whose parameters none is stepped, nor by another method of an object."""
    steps = training.events(OptimizerStep)
    if not steps or training.is_cut or "step" in training.earlier.others:
        return
    several = {step.optimizer.uid: step.optimizer for step in steps}
    stepped = {one.uid: one for value in several.values() for one in alternatives(value)}
    known = (
        one for one in training.objects if one.is_a(OPTIMIZER) and not one.is_open and not one.only_holds
    )
    idle = [one for one in known if one.uid not in stepped]
    handed = {id(one) for one in given_to_trainers(training)} if idle else set()
    for one in idle:
        modules, complete = modules_held(one)
        is_stepped = any(same_parameters(one, other) for other in stepped.values())
        if modules and complete and not is_stepped and id(one) not in handed:
            yield one


def _pairs(training: Training) -> Iterator[tuple[Backward, OptimizerStep]]:
    """Each backward in a loop, and the step that follows it there."""
    before: Backward | None = None
    for event in training.events(Event):
        if isinstance(event, Backward):
            before = event if event.loops and is_in_sight(event) else None
        elif isinstance(event, OptimizerStep) and before is not None and before.loops == event.loops:
            if before.guards == event.guards:
                yield before, event
            before = None
