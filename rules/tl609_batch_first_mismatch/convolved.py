"""Recurrent layers that are given the features of a convolution."""

from __future__ import annotations

from trainlint.facts.api.layers import RECURRENT
from trainlint.facts.ask.recurrent import plain
from trainlint.facts.model.elements import number_of
from trainlint.facts.model.values import Op

from .axes import axes_of, given_to, is_first_size
from .time_axis import is_packed, is_time_first, swaps_last_two

_KEEPS = frozenset(
    "relu leaky_relu gelu elu selu silu tanh sigmoid dropout dropout1d dropout2d max_pool1d avg_pool1d max_pool2d avg_pool2d adaptive_avg_pool2d adaptive_max_pool2d "
    "batch_norm contiguous float to".split()
)
"""What leaves the axes of a convolution as they are, as functions; layers are known by their class."""
_LAYERS = (
    "BatchNorm ReLU LeakyReLU GELU ELU SELU SiLU Tanh Sigmoid Dropout MaxPool1d MaxPool2d AvgPool1d AvgPool2d "
    "AdaptiveMaxPool2d AdaptiveAvgPool2d"
)


def turned_features(call: Op) -> Op | None:
    """The convolution whose features a recurrent layer is given with the batch as its first axis, which it takes for time:
    `rnn(conv(x).transpose(1, 2))`."""
    if call.name not in RECURRENT or not call.inputs or not is_time_first(call) or is_packed(call):
        return None
    given = plain(call.inputs[0])
    while given is not None and given.inputs and _keeps_axes(given):
        given = plain(given.inputs[0])
    value = _before_turn(given) if given is not None and given.inputs else None
    while value is not None and value.inputs and not _is_convolution(value):
        is_flat = value.name == "squeeze" and number_of(value.option(1, "dim")) in (2, 3)
        value = plain(value.inputs[0]) if is_flat or _keeps_axes(value) else None
    return value if value is not None and _is_convolution(value) else None


def _before_turn(given: Op) -> Op | None:
    """The features of which one of the axes of images has become that of time, behind the batch: `x.transpose(1, 2)` of
    `[batch, channels, width]`, or `x.permute(0, 3, 1, 2).view(batch, width, -1)`."""
    if swaps_last_two(given):
        return plain(given.inputs[0])
    if not _joins_last(given):
        return None
    turned = plain(given.inputs[0])
    while turned is not None and turned.inputs and _keeps_axes(turned):
        turned = plain(turned.inputs[0])
    axes = axes_of(turned) if turned is not None and turned.name == "permute" else []
    return plain(turned.inputs[0]) if turned is not None and len(axes) == 4 and axes[0] == 0 else None


def _joins_last(op: Op) -> bool:
    """Whether the last two of four axes become one: `flatten(2)`, `view(batch, width, -1)`."""
    if op.name == "flatten":
        return number_of(op.option(1, "start_dim")) == 2
    sizes = given_to(op) if op.name in ("view", "reshape") else []
    return len(sizes) == 3 and is_first_size(sizes[0])


def _is_convolution(op: Op) -> bool:
    return op.name in ("conv1d", "conv2d", "torch.nn.Conv1d", "torch.nn.Conv2d")


def _keeps_axes(op: Op) -> bool:
    kind = op.owner.type.removeprefix("torch.nn.") if op.owner is not None else ""
    return op.name in _KEEPS or (bool(kind) and kind.startswith(tuple(_LAYERS.split())))
