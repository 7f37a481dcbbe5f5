"""Axes of length 1 that are added to a tensor, however that is written."""

from __future__ import annotations

from trainlint.facts.model.elements import number_of
from trainlint.facts.model.values import Constant, Items, Named, Op, Value

_NEW = ("numpy.newaxis", "torch.newaxis")


def new_axis(value: Value) -> int | None:
    """Where an operation puts an axis of length 1 and changes nothing else: `unsqueeze(1)`, `x[:, None]`, `x[None]`.

    Like the argument of `unsqueeze`: -1 is behind all others. None for all else.
    """
    if not isinstance(value, Op):
        return None
    if value.name in ("unsqueeze", "unsqueeze_"):
        place = number_of(value.option(1, "dim"))
        return place if isinstance(place, int) else None
    index = value.options.get("index") if value.name == "getitem" else None
    items = index.items if isinstance(index, Items) else [index]
    new = [n for n, one in enumerate(items) if is_none(one)]
    if len(new) != 1 or not all(is_whole(one) for one in items if not is_none(one)):
        return None
    rests = [n for n, one in enumerate(items) if is_rest(one)]
    return new[0] - len(items) if rests and rests[0] < new[0] else new[0]


def is_none(index: Value | None) -> bool:
    """Whether an index is None, which adds an axis."""
    return (isinstance(index, Constant) and index.value is None) or (
        isinstance(index, Named) and index.name in _NEW
    )


def is_whole(index: Value | None) -> bool:
    """Whether an index keeps what it stands for: `:` one axis, `...` all that are left."""
    if isinstance(index, Op) and index.name == "[:]":
        return all(map(is_none, index.inputs))
    return is_rest(index)


def is_rest(index: Value | None) -> bool:
    """Whether an index is `...`."""
    return isinstance(index, Constant) and index.value is ...
