"""Weights that a helper keeps while a loop hands the model to code that is not in sight, and gives back behind the loop."""

from __future__ import annotations

from collections.abc import Iterator

from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.contents import handed_over
from trainlint.facts.model.events.event import Escape
from trainlint.facts.model.events.modules import StateKept, StateLoaded
from trainlint.facts.model.events.steps import OptimizerStep
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Op, Value

from .shared import shared


def given_back(training: Training) -> Iterator[tuple[Op, StateLoaded]]:
    """A state that only some iterations of a loop keep, and what loads it once the loop is over: that changes
    nothing where it holds the weights themselves, and is of no use where nothing trains them in between."""
    for loaded in training.events(StateLoaded):
        held = {one.uid for one in reached([loaded.state], shared)}
        for kept in training.events(StateKept):
            owner = kept.state.owner or next(iter(kept.state.inputs), None)
            if kept.state.uid not in held or owner is None:
                continue
            around = [one for one in kept.loops if one not in loaded.loops]
            if any(_may_train(training, loop, owner) for loop in around) and _is_now_and_then(training, kept):
                yield kept.state, loaded


def _is_now_and_then(training: Training, kept: StateKept) -> bool:
    return any(not training.is_setting(one) for one, _ in training.inside_loop(kept))


def _may_train(training: Training, loop: int, model: Value) -> bool:
    """Whether a loop that did not make a model hands it to code that is not in sight, and takes no step itself."""
    if training.inside(loop, OptimizerStep) or loop in getattr(model, "loops", ()):
        return False
    handed = (
        one
        for escape in training.inside(loop, Escape)
        for value in escape.values
        for one in handed_over(value)
    )
    return any(one.uid == model.uid for one in handed)
