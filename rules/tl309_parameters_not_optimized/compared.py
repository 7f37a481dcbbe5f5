"""What the trained part of a program is compared with: the outputs of a teacher, or of a network that stays random."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.attachment import cuts
from trainlint.facts.model.values import Object, Op, Value

_LOSSES = frozenset(
    "cross_entropy binary_cross_entropy binary_cross_entropy_with_logits kl_div mse_loss l1_loss smooth_l1_loss "
    "huber_loss torch.nn.Loss?".split()
)
"""Losses of a prediction and its target, in this order."""

_OF_DIFFERENCES = frozenset("** pow square abs norm".split())
"""What makes a loss of a difference, whichever side is taken away."""


def without_targets(made: Value, holds: Callable[[Object], bool]) -> Sequence[Value]:
    """What a value is made of, but for the target of what an optimizer holds if that is made by nothing that one holds: a
    target may well get gradients that nobody uses.

    Args:
        holds: whether an optimizer holds a module.
    """
    match made:
        case Op(name=name, inputs=(predicted, wanted, *_)) if name in _LOSSES:
            is_target = _is_made_by(predicted, holds) and not _is_made_by(wanted, holds)
            return [one for one in made.parts() if not (is_target and one is wanted)]
        case Op(name=name, inputs=(Op(name="-", inputs=(first, second)), *_)) if name in _OF_DIFFERENCES:
            sides = [one for one in (first, second) if _is_made_by(one, holds)]
            return [*(sides or (first, second)), *made.parts()[1:]]
    return made.parts()


def _is_made_by(value: Value, holds: Callable[[Object], bool]) -> bool:
    return any(
        isinstance(one, Op) and one.owner is not None and holds(one.owner)
        for one in reached([value], recorded)
    )


def recorded(value: Value) -> Sequence[Value]:
    """What a value is made of, as far as gradients pass."""
    is_stop = isinstance(value, Op) and (value.records is False or cuts(value))
    return () if is_stop else value.parts()
