"""Forwards behind all that a program trains."""

from __future__ import annotations

from trainlint.facts.ask.flow import made_of
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.events.steps import Backward, OptimizerStep
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Carried, Op, alternatives

_NOISE = frozenset(("randn", "rand", "normal", "randn_like", "rand_like"))


def is_after_all_training(training: Training, forward: Forward) -> bool:
    """Whether the one model that a program trains is called after its last step, for something that is given: a generator
    that gets noise may be meant to draw as it has learned to, and who calls a model on the same again and again wants to
    see how its answers differ."""
    steps = training.events(OptimizerStep)
    learns = [*training.events(Backward), *steps]
    return (
        bool(steps)
        and len({each.uid for one in steps for each in alternatives(one.optimizer)}) == 1
        and all(
            training.is_after(forward, one) and set(forward.loops).isdisjoint(one.loops) for one in learns
        )
        and not _is_given_noise(forward)
        and not _is_given_the_same(forward)
    )


def _is_given_noise(forward: Forward) -> bool:
    return any(
        isinstance(one, Op) and one.name in _NOISE for given in forward.inputs for one in made_of(given)
    )


def _is_given_the_same(forward: Forward) -> bool:
    """Whether nothing that a model is given is of the iteration of the innermost loop around it."""
    if not forward.loops:
        return False
    loop = forward.loops[-1]
    return not any(
        (isinstance(one, Carried) and one.loop == loop) or (isinstance(one, Op) and loop in one.loops)
        for given in forward.inputs
        for one in made_of(given)
    )
