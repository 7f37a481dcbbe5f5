"""Weights that an object keeps now and then, and that are restored in the same loop, some iterations later: early stopping that
leaves the loop with the best weights."""

from __future__ import annotations

from trainlint.facts.ask.asking import reached
from trainlint.facts.model.events.modules import StateLoaded, StateTaken
from trainlint.facts.model.events.steps import OptimizerStep
from trainlint.facts.model.training import Training


def comes_late(training: Training, taken: StateTaken, used: StateLoaded) -> bool:
    """Whether an iteration may restore what an earlier one has kept, with steps in between."""
    owner = taken.output.owner
    now_and_then = [guard for guard in training.inside_loop(taken) if guard not in used.guards]
    if owner is None or all(training.is_setting(condition) for condition, _ in now_and_then):
        return False
    return any(
        loop in used.loops
        and loop not in owner.loops
        and _stays(training, taken, loop)
        and bool(training.inside(loop, OptimizerStep))
        for loop in taken.loops
    )


def _stays(training: Training, taken: StateTaken, loop: int) -> bool:
    """Whether an object keeps the weights that was not made in this loop."""
    return any(
        loop not in holder.loops and any(one is taken.output for one in reached(holder.attributes.values()))
        for holder in training.objects
    )
