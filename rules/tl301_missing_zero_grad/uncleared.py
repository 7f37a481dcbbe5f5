"""Optimizers that a function steps without clearing, beside others that it clears itself: the loop is out of sight."""

from __future__ import annotations

from trainlint.facts.api.classes import MODULE
from trainlint.facts.ask.interference import may_touch, uses_gradients
from trainlint.facts.ask.stepped import certainly_clears, same_parameters
from trainlint.facts.model.events.event import Escape
from trainlint.facts.model.events.steps import Backward, OptimizerStep, ZeroGrad
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, Op

_CLEARS = frozenset(("zero_grad", "grad", "zero_", "optimizer_zero_grad"))
"""Names in code that clears gradients."""
_BARE = frozenset((MODULE, "abc.ABC", "builtins.object"))
"""Bases that clear nothing by themselves."""


def is_left_alone(training: Training, step: OptimizerStep) -> bool:
    """Whether nothing in a function clears what it steps, though it clears for its other optimizer before that one's
    step: whoever calls it has nothing left to clear for that one, and so hardly for this."""
    if training.entry != "function" or step.loops or not isinstance(step.optimizer, Object):
        return False
    clears = training.events(ZeroGrad)
    if any(same_parameters(one.target, step.optimizer) for one in clears) or _is_handed_on(training, step):
        return False
    computes = any(one.accumulates and not training.is_after(one, step) for one in training.events(Backward))
    return computes and any(
        certainly_clears(clear.target, other.optimizer) and not training.is_after(clear, other)
        for other in training.events(OptimizerStep)
        if isinstance(other.optimizer, Object)
        for clear in clears
    )


def is_never_cleared(training: Training, step: OptimizerStep) -> bool:
    """Whether a method that is one step of training steps the optimizer that its object has made, and neither it nor another
    method clears any gradients: who calls it only knows the object."""
    optimizer = step.optimizer
    if training.entry != "function" or step.loops or not isinstance(optimizer, Object) or optimizer.told_by:
        return False
    holders = [one for one in training.earlier.objects if optimizer in one.attributes.values()]
    if not holders or not _CLEARS.isdisjoint(training.earlier.others):
        return False
    if any(one.bases - _BARE for one in holders):  # a base out of sight may clear
        return False
    if training.events(ZeroGrad) or uses_gradients(training, None) or may_touch(training, optimizer, None):
        return False
    return any(one.accumulates for one in training.events(Backward))


def is_taken_in_turn(training: Training, step: OptimizerStep, loop: int) -> bool:
    """Whether a loop inside another counts through several optimizers, and steps each in its turn: `optimizers[i].step()`.
    What each of them uses has to be cleared on every iteration of the loop around it."""
    over = training.loops[loop].over
    return (
        isinstance(over, Op)
        and over.name == "range"
        and any(
            other.at == step.at
            and other.optimizer is not step.optimizer
            and not training.never_together(other, step)
            for other in training.events(OptimizerStep)
        )
    )


def _is_handed_on(training: Training, step: OptimizerStep) -> bool:
    """Whether code that is not known is given the optimizer itself."""
    return any(one is step.optimizer for escape in training.events(Escape) for one in escape.values)
