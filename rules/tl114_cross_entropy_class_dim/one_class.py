"""Cross-entropy over a single class: the softmax of one score is 1, whatever it is."""

from __future__ import annotations

from trainlint.facts.ask.shapes import keeps_shape, shape_read
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.values import Op, constant

_CONVOLUTIONS = tuple(f"torch.nn.Conv{kind}{axes}d" for kind in ("", "Transpose") for axes in (1, 2, 3))
_MOST_STEPS = 20


def only_class(loss: LossCall) -> Op | None:
    """The layer that gives the only class of a loss: a convolution of one channel, or a linear layer of one output per sample."""
    value = loss.input
    for _ in range(_MOST_STEPS):
        if not isinstance(value, Op) or not value.inputs:
            return None
        layer = value.owner
        if layer is not None and layer.type in _CONVOLUTIONS and value.name != "output":
            return value if constant(layer.argument(1, "out_channels")) == 1 else None
        if layer is not None and value.name == "linear":
            shape = shape_read(value)
            is_one = constant(layer.argument(1, "out_features")) == 1
            return value if is_one and shape is not None and len(shape) == 2 else None
        if value.name != "output" and not keeps_shape(value):
            return None
        value = value.inputs[0]
    return None
