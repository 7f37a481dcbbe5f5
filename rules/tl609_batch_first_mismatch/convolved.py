"""Recurrent layers that are given the features of a convolution."""

from __future__ import annotations

from trainlint.facts.api.layers import RECURRENT
from trainlint.facts.ask.recurrent import plain
from trainlint.facts.model.elements import number_of
from trainlint.facts.model.values import Op

from .time_axis import is_packed, is_time_first, swaps_last_two

_KEEPS = frozenset(
    "relu leaky_relu gelu elu selu silu tanh sigmoid dropout dropout1d dropout2d max_pool1d avg_pool1d max_pool2d avg_pool2d "
    "batch_norm contiguous float to".split()
)
"""What leaves the axes of a convolution as they are, as functions; layers are known by their class."""
_LAYERS = (
    "BatchNorm ReLU LeakyReLU GELU ELU SELU SiLU Tanh Sigmoid Dropout MaxPool1d MaxPool2d AvgPool1d AvgPool2d"
)


def turned_features(call: Op) -> Op | None:
    """The convolution whose features a recurrent layer is given with the batch as its first axis, which it takes for time:
    `rnn(conv(x).transpose(1, 2))`."""
    if call.name not in RECURRENT or not call.inputs or not is_time_first(call) or is_packed(call):
        return None
    turned = plain(call.inputs[0])
    if turned is None or not swaps_last_two(turned):
        return None
    value = plain(turned.inputs[0])
    while value is not None and value.inputs and not _is_convolution(value):
        is_flat = value.name == "squeeze" and number_of(value.option(1, "dim")) in (2, 3)
        value = plain(value.inputs[0]) if is_flat or _keeps_axes(value) else None
    return value if value is not None and _is_convolution(value) else None


def _is_convolution(op: Op) -> bool:
    return op.name in ("conv1d", "conv2d", "torch.nn.Conv1d", "torch.nn.Conv2d")


def _keeps_axes(op: Op) -> bool:
    kind = op.owner.type.removeprefix("torch.nn.") if op.owner is not None else ""
    return op.name in _KEEPS or (bool(kind) and kind.startswith(tuple(_LAYERS.split())))
