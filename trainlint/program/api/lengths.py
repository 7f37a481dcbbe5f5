"""Axes of which the length is in sight, though the shape of the tensor is not."""

from __future__ import annotations

from trainlint.facts.model.effort import spend
from trainlint.facts.model.values import Choice, Constant, Items, Op, Value, alternatives, constant

_SAME = frozenset("to cuda cpu float double half long contiguous clone detach requires_grad_".split())
"""Methods whose result has the shape of what they are called on."""


def read(value: Value) -> Value:
    """1 in place of `x.unsqueeze(1).shape[1]`, whichever tensor x is, and the value itself in place of any other."""
    if isinstance(value, (Op, Choice)) and all(map(_is_one, alternatives(value))):
        return Constant(value=1)
    return value


def _is_one(value: Value) -> bool:
    match value:
        case Op(name="getitem", inputs=(Op(name="shape", inputs=(tensor,)),)):
            axis = constant(value.options.get("index"))
        case Op(name="size", inputs=(tensor, *_)):
            axis = constant(value.option(1, "dim"))
        case _:
            return False
    return isinstance(axis, int) and _has_new_axis(tensor, axis)


def _has_new_axis(tensor: Value, axis: int) -> bool:
    """Whether the last operation that changes the shape of a tensor has added this axis: `unsqueeze(1)`, `x[:, None]`."""
    while isinstance(tensor, Op) and tensor.name in _SAME and tensor.inputs:
        spend()
        tensor = tensor.inputs[0]
    match tensor:
        case Op(name="unsqueeze"):
            return bool(constant(tensor.option(1, "dim")) == axis)
        case Op(name="getitem", options={"index": Items(items=[*indices])}):
            is_there = 0 <= axis < len(indices)
            return is_there and _is_none(indices[axis]) and all(map(_keeps_axes, indices[:axis]))
    return False


def _keeps_axes(index: Value) -> bool:
    return _is_none(index) or (isinstance(index, Op) and index.name == "[:]")


def _is_none(index: Value) -> bool:
    return isinstance(index, Constant) and index.value is None
