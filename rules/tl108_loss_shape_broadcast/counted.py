"""Predictions that are compared with targets of another number of axes, where a loss shows how many each has.

In `binary_cross_entropy_with_logits(scores, y.unsqueeze(1))` the scores have an axis more than `y`, and in
`cross_entropy(scores, y.squeeze(1))` as many: so `(scores > 0) == y` and `scores.argmax(1) == y` are of all pairs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from trainlint.facts.api.operations import EQUALITIES
from trainlint.facts.ask.precision import dtype_of
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.events.operations import Operation
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Op, Value

from .asked import asserted_alike, can_show
from .made import MOST, made

_ALIKE = ("binary_cross_entropy", "binary_cross_entropy_with_logits")
"""Losses that refuse shapes which are not the same."""

_OVER_CLASSES = ("cross_entropy", "nll_loss")
"""Losses whose input has one axis more than targets that are classes."""

_DECIDES = frozenset("> >= < <= gt ge lt le round argmax long int bool heaviside".split())


_TO_FLOAT = frozenset(("float", "double", "half", "bfloat16"))


class Apart(NamedTuple):
    """A comparison of sides that differ by an axis, the loss that shows it, and whether it certainly does."""

    compared: Operation
    loss: LossCall
    is_sure: bool


def compared_apart(training: Training) -> Iterator[Apart]:
    """Comparisons of predictions with targets where one of them has an axis more, whichever loss shows it."""
    compared = [one for one in training.events(Operation) if one.output.name in EQUALITIES]
    losses = [one for one in training.events(LossCall) if one.function in (*_ALIKE, *_OVER_CLASSES)]
    for one in compared:
        if len(one.output.inputs) != 2 or asserted_alike(training, one, *one.output.inputs):
            continue
        found = [(_apart(one.output, loss), loss) for loss in losses if can_show(loss, one)]
        shown = [(by, loss) for by, loss in found if by is not None]
        if len({by for (by, _), _ in shown}) == 1:
            (by, is_sure), loss = shown[0]
            if by in (1, -1):
                yield Apart(one, loss, is_sure)


def _is_decided(side: Value) -> bool:
    """Whether a side was made a decision on the way, by a threshold or by rounding: scores themselves are equal to nothing."""
    for _ in range(MOST):
        if not isinstance(side, Op) or not side.inputs:
            return False
        if side.name in _DECIDES:
            return True
        side = side.inputs[0]
    return False


def _is_of_classes(loss: LossCall) -> bool:
    """Whether the targets of a loss are classes: targets that were made floats are probabilities, of as many axes as the input."""
    target = loss.target
    if loss.function not in _OVER_CLASSES:
        return False
    is_float = isinstance(target, Op) and (target.name in _TO_FLOAT or any(map(dtype_of, target.parts())))
    return not is_float


def _apart(compared: Op, loss: LossCall) -> tuple[int, bool] | None:
    """How many axes more the prediction of a comparison has than the target, as a loss of both shows, and whether that is
    certain; None where the loss is not of these."""
    if loss.input is None or loss.target is None:
        return None
    sides = [made(side) for side in compared.inputs]
    given, wanted = made(loss.input), made(loss.target)
    for first, second in (sides, sides[::-1]):
        is_pair = first.of is given.of and second.of is wanted.of and given.of is not wanted.of
        if is_pair and not second.is_chosen and (first.is_chosen or any(map(_is_decided, compared.inputs))):
            more = wanted.added - given.added + _is_of_classes(loss)
            return first.added - second.added + more, all(one.is_sure for one in (*sides, given, wanted))
    return None
