"""The order in which a view names the axes of a tensor: sizes of its own, products of these, and -1 for the rest."""

from __future__ import annotations

from trainlint.facts.model.elements import number_of
from trainlint.facts.model.values import Constant, Op, Value, constant

from .axes import factors, has_known_sizes, sizes

_SAME_SHAPE = frozenset(
    "output contiguous to type float double half bfloat16 cuda cpu clone detach dropout relu gelu silu tanh sigmoid "
    "leaky_relu elu alias identity batch_norm layer_norm torch.nn.ReLU torch.nn.LeakyReLU torch.nn.ELU torch.nn.GELU "
    "torch.nn.SiLU torch.nn.Tanh torch.nn.Sigmoid torch.nn.Dropout torch.nn.Dropout1d torch.nn.Dropout2d "
    "torch.nn.BatchNorm1d torch.nn.BatchNorm2d torch.nn.BatchNorm3d torch.nn.GroupNorm torch.nn.LayerNorm "
    "torch.nn.InstanceNorm1d torch.nn.InstanceNorm2d torch.nn.Identity".split()
)
"""Operations whose result has the shape of what they are given."""

_CONVOLUTIONS = {f"conv{kind}{n}d": n + 2 for n in (1, 2, 3) for kind in ("", "_transpose")}
"""How many axes what a convolution gives has."""

_POOLS = frozenset(
    f"{kind}{n}d"
    for n in (1, 2, 3)
    for kind in ("torch.nn.MaxPool", "torch.nn.AvgPool", "max_pool", "avg_pool")
)
"""Operations whose result has as many channels as what they are given."""

_CHANNELS_MOVED = ([0, 2, 3, 1], [0, 3, 1, 2])
"""An image's channels go behind its rows and columns, or back: a single one mixes nothing."""


def turned(view: Op) -> tuple[int, int] | None:
    """An axis of a tensor and the position that a view gives it, where the view is given the tensor's own sizes in
    another order; None where it is not."""
    if view.name not in ("view", "reshape") or not view.inputs or view.seen is not None:
        return None
    groups = _groups(view)
    order = [axis for group in groups or () for axis in group]
    if len(order) < 3 or order == sorted(order):
        return None
    if order in _CHANNELS_MOVED:
        if convolution(view.inputs[0]) is None:
            return None
    elif not has_known_sizes(view):
        return None
    at = [position for position, group in enumerate(groups or ()) for _ in group]
    first = next(n for n, axis in enumerate(order) if axis != n)
    return order[first], at[first]


def _groups(view: Op) -> list[list[int]] | None:
    """Which axes of a tensor go into each axis of a view of it; None where that is not known of all."""
    tensor, given = view.inputs[0], sizes(view)
    groups = [[position_in(tensor, one) for one in factors(size)] for size in given]
    rest = [n for n, size in enumerate(given) if number_of(size) == -1]
    named = [axis for n, group in enumerate(groups) if n not in rest for axis in group]
    known = [axis for axis in named if axis is not None]
    if len(known) < max(len(named), 2) or len(set(known)) != len(known) or len(rest) > 1:
        return None
    every = range(max(_rank(tensor) or 0, max(known) + 1))
    missing = [axis for axis in every if axis not in known]
    if bool(missing) is not bool(rest):
        return None
    if rest:
        groups[rest[0]] = list(missing)
    return [sorted(axis for axis in group if axis is not None) for group in groups]


def position_in(tensor: Value, size: Value) -> int | None:
    """Which of a tensor's own axes a number is the length of, as in `b, n, c = x.shape` or `x.size(1)`."""
    if not isinstance(size, Op) or not size.inputs:
        return None
    if size.name == "size" and len(size.inputs) == 2:
        whole, position = size.inputs[0], number_of(size.inputs[1])
    else:
        sized = size.inputs[0]
        if size.name != "getitem" or not isinstance(sized, Op) or sized.name not in ("shape", "size"):
            return None
        if len(sized.inputs) != 1:
            return None
        whole, position = sized.inputs[0], number_of(size.options.get("index"))
    if _shaped(whole) is not _shaped(tensor) or not isinstance(position, int) or isinstance(position, bool):
        return None
    rank = _rank(tensor)
    return position if position >= 0 else position + rank if rank is not None else None


def _shaped(value: Value) -> Value:
    """The first tensor that has had the shape of a value."""
    while isinstance(value, Op) and value.name in _SAME_SHAPE and value.inputs:
        value = value.inputs[0]
    return value


def _made_by(tensor: Value) -> Value:
    """The operation that has given a tensor its channels, and as many axes."""
    made = _shaped(tensor)
    while isinstance(made, Op) and made.name in _POOLS and made.inputs:
        made = _shaped(made.inputs[0])
    return made


def _rank(tensor: Value) -> int | None:
    made = _made_by(tensor)
    return _CONVOLUTIONS.get(made.name) if isinstance(made, Op) else None


def convolution(tensor: Value) -> Op | None:
    """The convolution that gives a tensor, with more than one channel."""
    made = _made_by(tensor)
    if not isinstance(made, Op) or made.name not in _CONVOLUTIONS or made.owner is None:
        return None
    return made if constant(made.owner.argument(1, "out_channels")) != 1 and not made.owner.is_open else None


def is_flat(view: Op) -> bool:
    """Whether a view has a single axis, so it is no matter which axes there were: `view(-1)`, `reshape(rows * columns)`."""
    match view.inputs:
        case (_, Constant(value=int())) | (_, Op(name="*" | "numel")):
            return True
    return False
