"""Predictions that are compared with targets of another number of axes, where a loss shows how many each has.

In `binary_cross_entropy_with_logits(scores, y.unsqueeze(1))` the scores have an axis more than `y`, and in
`cross_entropy(scores, y.squeeze(1))` as many: so `(scores > 0) == y` and `scores.argmax(1) == y` are of all pairs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from trainlint.facts.api.operations import EQUALITIES
from trainlint.facts.model.elements import number_of
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.events.operations import Operation
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Constant, Items, Op, Value, constant

_ALIKE = ("binary_cross_entropy", "binary_cross_entropy_with_logits")
"""Losses that refuse shapes which are not the same."""

_OVER_CLASSES = ("cross_entropy", "nll_loss")
"""Losses whose input has one axis more than targets that are classes."""

_SAME = frozenset(
    "output to type float double half bfloat16 long int bool cuda cpu detach data clone contiguous sigmoid softmax "
    "log_softmax round exp numpy alias transpose permute".split()
)
_BY_NUMBER = frozenset("> >= < <= gt ge lt le * / + -".split())
_DECIDES = frozenset("> >= < <= gt ge lt le round argmax long int bool heaviside".split())
_MOST = 20


class Apart(NamedTuple):
    """A comparison of sides that differ by an axis, the loss that shows it, and whether it certainly does."""

    compared: Operation
    loss: LossCall
    is_sure: bool


class _Made(NamedTuple):
    """What a tensor is made of, how many axes were added on the way, whether that is certain, and whether the largest
    was chosen along an axis."""

    of: Value
    added: int = 0
    is_sure: bool = True
    is_chosen: bool = False


def compared_apart(training: Training) -> Iterator[Apart]:
    """Comparisons of predictions with targets where one of them has an axis more, whichever loss shows it."""
    compared = [one for one in training.events(Operation) if one.output.name in EQUALITIES]
    losses = [one for one in training.events(LossCall) if one.function in (*_ALIKE, *_OVER_CLASSES)]
    for one in compared:
        if len(one.output.inputs) != 2:
            continue
        found = [(_apart(one.output, loss), loss) for loss in losses]
        shown = [(by, loss) for by, loss in found if by is not None]
        if len({by for (by, _), _ in shown}) == 1:
            (by, is_sure), loss = shown[0]
            if by in (1, -1):
                yield Apart(one, loss, is_sure)


def _is_decided(side: Value) -> bool:
    """Whether a side was made a decision on the way, by a threshold or by rounding: scores themselves are equal to nothing."""
    for _ in range(_MOST):
        if not isinstance(side, Op) or not side.inputs:
            return False
        if side.name in _DECIDES:
            return True
        side = side.inputs[0]
    return False


def _apart(compared: Op, loss: LossCall) -> tuple[int, bool] | None:
    """How many axes more the prediction of a comparison has than the target, as a loss of both shows, and whether that is
    certain; None where the loss is not of these."""
    if loss.input is None or loss.target is None:
        return None
    sides = [_made(side) for side in compared.inputs]
    given, wanted = _made(loss.input), _made(loss.target)
    for first, second in (sides, sides[::-1]):
        is_pair = first.of is given.of and second.of is wanted.of and given.of is not wanted.of
        if is_pair and not second.is_chosen and (first.is_chosen or any(map(_is_decided, compared.inputs))):
            more = wanted.added - given.added + (loss.function in _OVER_CLASSES)
            return first.added - second.added + more, all(one.is_sure for one in (*sides, given, wanted))
    return None


def _made(value: Value) -> _Made:
    made = _Made(value)
    for _ in range(_MOST):
        op = made.of
        if not isinstance(op, Op) or not op.inputs or op.written:
            break
        step = _step(op)
        if step is None:
            break
        made = _Made(
            step.of, made.added + step.added, made.is_sure and step.is_sure, made.is_chosen or step.is_chosen
        )
    return made


def _step(op: Op) -> _Made | None:
    """What an operation works on, and what it does to the number of axes; None where that is not known."""
    first = op.inputs[0]
    if op.name in _SAME:
        return _Made(first)
    if op.name in _BY_NUMBER:
        return _Made(first) if len(op.inputs) == 2 and number_of(op.inputs[1]) is not None else None
    if op.name == "unsqueeze":
        return _Made(first, 1)
    if op.name == "squeeze":
        return _Made(first, -1, is_sure=False) if op.option(1, "dim") is not None else None
    if op.name == "argmax":
        return _chosen(first, op)
    if op.name in ("view", "reshape"):
        sizes = [number_of(one) for one in op.inputs[1:]]
        return _Made(first, 1, is_sure=False) if sizes == [-1, 1] else None
    if op.name == "getitem":
        return _part(op)
    if op.name == "getattr" and constant(op.options.get("name")) == "indices":
        return _chosen(first.inputs[0], first) if isinstance(first, Op) and first.name == "max" else None
    return None


def _chosen(of: Value, op: Op) -> _Made | None:
    if not isinstance(number_of(op.option(1, "dim")), int):
        return None
    keeps = op.option(2, "keepdim")
    is_kept = constant(keeps) if keeps is not None else False
    return _Made(of, 0 if is_kept else -1, is_chosen=True) if isinstance(is_kept, bool) else None


def _part(op: Op) -> _Made | None:
    """`scores.max(1)[1]`, `y[:, None]` and `y[:, 0]`."""
    whole, index = op.inputs[0], op.options.get("index")
    if isinstance(whole, Op) and whole.name == "max" and number_of(index) == 1 and len(whole.inputs):
        return _chosen(whole.inputs[0], whole)
    if not isinstance(index, Items):
        return None
    added = 0
    for one in index.items:
        if isinstance(one, Constant) and one.value is None:
            added += 1
        elif isinstance(number_of(one), int):
            added -= 1
        elif not isinstance(one, Op) or one.name != "[:]":
            return None
    return _Made(whole, added)
