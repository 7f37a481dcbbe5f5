"""Softmax over an axis that a layer has made one long: every result is 1."""

from __future__ import annotations

from collections.abc import Sequence

from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.axis_sizes import size_at, sized_by
from trainlint.facts.model.values import Object, Op, Value, constant

from .layout import axes


def over_one(op: Op, dim: Value | None) -> Object | None:
    """The layer whose output has one channel or feature, if it is this axis that a softmax goes over."""
    if not op.inputs:
        return None
    for axis in (-1, 1):
        if _is_axis(op, dim, axis) and size_at(op.inputs[0], axis) == 1:
            return _made_by(op.inputs[0], axis)
    return None


def _made_by(value: Value, axis: int) -> Object | None:
    """The layer that makes an axis one long, through what keeps it so."""

    def before(one: Value) -> Sequence[Value]:
        parts = one.inputs if isinstance(one, Op) else one.parts()
        return [part for part in parts[::-1] if size_at(part, axis) == 1]

    for one in reached([value], before):
        if isinstance(one, Op) and one.owner is not None and sized_by(one.owner) is not None:
            return one.owner
    return None


def _is_axis(op: Op, dim: Value | None, axis: int) -> bool:
    """Whether a dimension is an axis, counted from either end."""
    given = constant(dim)
    if not isinstance(given, int) or (given < 0) == (axis < 0):
        return bool(given == axis)
    count = axes(op.inputs[0])
    return count is not None and count > 0 and given % count == axis % count
