"""The size of one axis of a tensor, also where it is not known how many axes there are.

`nn.Linear(8, 1)` makes the last axis 1 long, whatever it is given, and a mask whose last axis is 1 long leaves it so.
"""

from __future__ import annotations

from trainlint.facts.ask.asking import question
from trainlint.facts.ask.new_axes import new_axis
from trainlint.facts.ask.shapes import is_broadcast, keeps_shape, shape_read
from trainlint.facts.model.values import Object, Op, Value, constant

LINEAR = "torch.nn.Linear"
_CONVOLUTIONS = tuple(f"torch.nn.Conv{n}d" for n in (1, 2, 3))


@question(start=None, unknown=None)
def size_at(value: Value, axis: int) -> int | None:
    """The size of an axis, -1 for the last or 1 for the channels; None where it is not known, or there is no such axis."""
    shape = shape_read(value)
    if shape is not None:
        return shape[axis] if -len(shape) <= axis < len(shape) else None
    if not isinstance(value, Op) or not value.inputs:
        return None
    if value.owner is not None and sized_by(value.owner) is not None:
        return _given(value.owner) if sized_by(value.owner) == axis else None
    if is_broadcast(value):
        return _together(value, axis)
    if new_axis(value) is not None:
        return 1 if new_axis(value) == axis else None
    return size_at(value.inputs[0], axis) if keeps_shape(value) else None


def sized_by(layer: Object) -> int | None:
    """The axis that the second argument of a layer is the size of."""
    return -1 if layer.type == LINEAR else 1 if layer.type in _CONVOLUTIONS else None


def _given(layer: Object) -> int | None:
    size = constant(layer.argument(1, "out_features" if layer.type == LINEAR else "out_channels"))
    return size if isinstance(size, int) else None


def _together(op: Op, axis: int) -> int | None:
    """The size of an axis after inputs were broadcast in which it has the same size."""
    sizes = {size_at(one, axis) for one in op.inputs if shape_read(one) != ()}
    return sizes.pop() if len(sizes) == 1 else None
