"""Logits whose first two axes have changed places: the classes are still the last axis."""

from __future__ import annotations

from trainlint.facts.model.elements import number_of
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.values import Items, Op, Value

_SAME_AXES = frozenset(
    "output identity to float double half bfloat16 clone contiguous dropout relu gelu tanh log_softmax softmax".split()
)
_SWAPS = frozenset("transpose swapaxes swapdims".split())
_MOST = 40


def classes_stay_last(loss: LossCall) -> tuple[Op, Op] | None:
    """The layer of the program's own whose features are the classes, and what has swapped its first two axes, if nothing else has
    moved axes since. Whether there are two axes or more, the classes are not the second."""
    value: Value | None = loss.input
    turn: Op | None = None
    for _ in range(_MOST):
        if not isinstance(value, Op) or not value.inputs:
            return None
        if value.name == "linear":
            return (value, turn) if turn is not None and value.owner is not None else None
        if value.name not in _SAME_AXES:
            if turn is not None or not _swaps_first_two(value):
                return None
            turn = value
        value = value.inputs[0]
    return None


def _swaps_first_two(op: Op) -> bool:
    given = op.inputs[1:] or tuple(op.options.values())
    if len(given) == 1 and isinstance(given[0], Items) and given[0].exact:
        given = tuple(given[0].items)
    axes = [number_of(one) for one in given]
    if op.name in _SWAPS:
        return sorted(map(str, axes)) == ["0", "1"]
    return op.name == "permute" and axes == [1, 0, *range(2, len(axes))]
