"""Loops whose iterations are no batches of their own: some updates on one batch, the steps of one sequence, and the parts of
a batch that an optimizer steps on once."""

from __future__ import annotations

from trainlint.facts.api.operations import CREATES
from trainlint.facts.ask.attachment import cuts
from trainlint.facts.ask.flow import made_of
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.events.losses import Accumulated
from trainlint.facts.model.events.steps import Backward, OptimizerStep
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Carried, Constant, Object, Op, Unknown, Value, alternatives, ways

_OF_ITS_OWN = CREATES | {"iterate", "call"}


def learns_again(training: Training, loop: int, around: tuple[int, ...]) -> bool:
    """Whether each iteration of a loop within others learns from what they were given, as the updates on one rollout do.

    Where the optimizer is created again in the loops around, such a loop is a whole training on all data.
    """
    forwards = training.inside(loop, Forward)
    backwards = training.inside(loop, Backward)
    if not (around and forwards and backwards):
        return False
    optimizers = [
        one for step in training.inside(loop, OptimizerStep) for one in alternatives(step.optimizer)
    ]
    is_kept = all(isinstance(one, Object) and set(around).isdisjoint(one.loops) for one in optimizers)
    given = [one for forward in forwards for one in forward.inputs]
    return bool(optimizers) and is_kept and bool(given) and not any(_is_new(one, loop) for one in given)


def _is_new(value: Value, loop: int) -> bool:
    """Whether something in a value is made, drawn or chosen anew in each iteration, or comes from the one before."""
    return any(
        (isinstance(one, Carried) and one.loop == loop)
        or (isinstance(one, Unknown) and loop in one.loops)
        or (isinstance(one, Op) and loop in one.loops and one.name in _OF_ITS_OWN)
        for one in made_of(value)
    )


def goes_on(training: Training, loop: int) -> bool:
    """Whether a module gets in each iteration what the one before has given, with its graph: the steps of one sequence."""
    return any(
        isinstance(part, Carried) and part.loop == loop and _hangs_on_itself(part)
        for forward in training.inside(loop, Forward)
        for one in forward.inputs
        for part in made_of(one)
    )


def _hangs_on_itself(state: Carried) -> bool:
    """Whether a state is not detached from what it was before."""
    return state.back is not None and any(
        one is state for one in made_of(state.back, lambda op: cuts(op) or op.name == "call")
    )


def begins_with_steps(training: Training, event: Accumulated) -> bool:
    """Whether a sum is set back to a number wherever an optimizer steps, as one of the parts of a batch is."""
    backs = [
        one.back
        for one in event.result.parts()
        if isinstance(one, Carried) and one.loop in event.loops and one.back is not None
    ]
    again = [
        frozenset(guards)
        for back in backs
        for guards, one in ways(back)
        if guards and isinstance(one, Constant)
    ]
    steps = training.inside(event.loops[-1], OptimizerStep) if event.loops else []
    return any(under <= frozenset(step.guards) for under in again for step in steps)
