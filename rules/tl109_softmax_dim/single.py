"""Softmax over an axis that a layer has made one long: every result is 1."""

from __future__ import annotations

from trainlint.facts.model.values import Constant, Object, Op, Value, constant

from .layout import axes

_KEEPS_SHAPE = frozenset(
    "output dropout relu leaky_relu tanh sigmoid gelu elu float to contiguous clamp alias detach".split()
)
_AXES = {"torch.nn.Linear": -1, **{f"torch.nn.Conv{n}d": 1 for n in (1, 2, 3)}}
"""The axis that a layer's second argument is the length of."""


def over_one(op: Op, dim: Value | None) -> Object | None:
    """The layer whose output has one channel or feature, if it is this axis that a softmax goes over."""
    value: Value | None = op.inputs[0] if op.inputs else None
    while isinstance(value, Op) and value.inputs:
        layer = value.owner
        if layer is not None and layer.type in _AXES:
            name = "out_features" if layer.type == "torch.nn.Linear" else "out_channels"
            size = layer.argument(1, name)
            is_one = isinstance(size, Constant) and not size.is_default and size.value == 1
            return layer if is_one and not layer.is_open and _is_axis(op, dim, _AXES[layer.type]) else None
        if value.name not in _KEEPS_SHAPE:
            return None
        value = value.inputs[0]
    return None


def _is_axis(op: Op, dim: Value | None, axis: int) -> bool:
    """Whether a dimension is an axis, counted from either end."""
    given = constant(dim)
    if not isinstance(given, int) or (given < 0) == (axis < 0):
        return bool(given == axis)
    count = axes(op.inputs[0])
    return count is not None and given % count == axis % count
