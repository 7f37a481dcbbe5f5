"""Inner loops over the batches of one step: `for _ in range(accumulation_steps)`, and the step behind it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainlint.facts.ask.stepped import same_parameters
from trainlint.facts.model.events.steps import Backward, OptimizerStep, ZeroGrad
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Op, Value

_NUMBER = re.compile(r"accum|grad_?acc|acc_?(steps?|iter)|micro|iter_size|update_freq", re.IGNORECASE)
"""What the number of batches for one step is called."""

_PARTS = re.compile(r"(^|[_.])micro_?(batch|step)", re.IGNORECASE)
"""What these batches are called, where a loop goes through them."""


def accumulated_inside(training: Training) -> Iterator[tuple[Backward, OptimizerStep]]:
    """Backward passes in a loop over the batches of one step, and the step behind it, whose gradients nothing clears more
    often."""
    for backward in training.events(Backward):
        if backward.accumulates and not backward.by_framework and _is_over_batches(training, backward):
            around = backward.loops[:-1]
            for step in training.events(OptimizerStep):
                if (
                    step.loops == around
                    and training.is_after(step, backward)
                    and _is_cleared_as_often(training, step)
                ):
                    yield backward, step


def _is_cleared_as_often(training: Training, step: OptimizerStep) -> bool:
    """Whether its gradients are cleared as often as it steps, where that is in sight, and nowhere else."""
    clears = [one for one in training.events(ZeroGrad) if same_parameters(one.target, step.optimizer)]
    return all(one.loops == step.loops for one in clears)


def _is_over_batches(training: Training, backward: Backward) -> bool:
    """Whether the innermost loop goes, by its name, through the batches that accumulate for one step."""
    loop = training.loops.get(backward.loops[-1]) if backward.loops else None
    if loop is None:
        return False
    if _NUMBER.search(loop.times):
        return True
    over = loop.over
    while isinstance(over, Op) and over.name.endswith(("enumerate", "zip")) and over.inputs:
        over = over.inputs[0]
    match over:
        case Op(name="chunk" | "split", inputs=(*_, number)):
            return _NUMBER.search(_named(number)) is not None
    return over is not None and _PARTS.search(_named(over)) is not None


def _named(value: Value) -> str:
    return getattr(value, "text", "")
