"""Which of the last two axes of attention scores is which, after what has turned them."""

from __future__ import annotations

from trainlint.facts.model.elements import number_of
from trainlint.facts.model.values import Items, Op

_LAST_TWO = ({-1, -2}, {0, 1}, {1, 2}, {2, 3})
_SWAPS = frozenset("transpose swapaxes swapdims".split())
_WHOLE = frozenset("T t mT".split())


def swaps_last_axes(op: Op) -> bool | None:
    """Whether an operation on scores makes queries of keys and the reverse; None where it may."""
    name = op.name.removesuffix("_")
    if name in _WHOLE:
        return True
    if name in _SWAPS:
        axes = {number_of(one) for one in (*op.inputs[1:], *op.options.values())}
        return True if axes in _LAST_TWO else None
    if name == "permute":
        return _is_turned(op)
    return False


def _is_turned(op: Op) -> bool | None:
    given = op.inputs[1:] or tuple(op.options.values())
    if len(given) == 1 and isinstance(given[0], Items) and given[0].exact:
        given = tuple(given[0].items)
    axes = [number_of(one) for one in given]
    if None in axes:
        return None
    order = [int(axis) % len(axes) for axis in axes if axis is not None]
    last = [len(order) - 2, len(order) - 1]
    if order[-2:] == last:
        return False
    return True if order[-2:] == last[::-1] else None


def is_over_queries(softmax: Op) -> bool:
    """Whether a softmax goes over the axis before the last, as far as that is certain: of scores with their axes turned."""
    dim = softmax.option(1, "dim") or (
        softmax.owner.argument(0, "dim") if softmax.owner is not None else None
    )
    return number_of(dim) == -2
