"""Which axis a recurrent layer takes for time, and which one a program does."""

from __future__ import annotations

from typing import NamedTuple

from trainlint.facts.api.classes import LOADER
from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.layers import layer_of
from trainlint.facts.ask.recurrent import plain, recurrent_state
from trainlint.facts.model.elements import number_of
from trainlint.facts.model.values import Constant, Items, Object, Op, Value

from .axes import axes_of
from .ends import ends_of_samples

_POOLS = frozenset("mean sum max amax min amin logsumexp median".split())
_SLIDES = (
    frozenset(f"{prefix}{name}1d" for prefix in ("", "adaptive_") for name in ("max_pool", "avg_pool"))
    | frozenset(
        f"torch.nn.{name}1d" for name in "Conv MaxPool AvgPool AdaptiveMaxPool AdaptiveAvgPool".split()
    )
    | {"conv1d"}
)
"""What goes along the last axis of `[batch, features, time]`."""
_TURNS = frozenset(("transpose", "swapaxes", "swapdims", "permute"))
_UNPACKS = "pad_packed_sequence"
_PACKS = "pack_padded_sequence"


class Misread(NamedTuple):
    """What gives a sequence, its axes, and what is read of it."""

    call: Op
    axes: str
    what: str


_TIME_FIRST = "[time, batch, features]"
_BATCH_FIRST = "[batch, time, features]"
_STATE = "[layers, batch, features]"


def misread(op: Op) -> Misread | None:
    """An operation that takes the batch of a sequence for its time."""
    if not op.inputs:
        return None
    if op.name in _POOLS and number_of(op.option(1, "dim")) == 1:
        found = _sequence(op)
        return Misread(found[0], _TIME_FIRST, "pools over axis 1") if found and found[1] is False else None
    if op.name in _SLIDES:
        turned = plain(op.inputs[0])
        found = _sequence(turned) if turned is not None and swaps_last_two(turned) else None
        return Misread(found[0], _TIME_FIRST, "goes along axis 1") if found and found[1] is False else None
    if op.name != "getitem":
        return None
    index = op.options.get("index")
    if isinstance(index, Constant) and index.value == -1:
        found = _sequence(op)
        if found and found[1] is True and _is_of_batches(found[0]):
            return Misread(found[0], _BATCH_FIRST, "takes the last index of axis 0")
    if is_last_of_second_axis(op):
        state = recurrent_state(op.inputs[0])
        if state is not None:
            return Misread(state, _STATE, "takes the last index of axis 1")
        found = _sequence(op)
        if found and found[1] is False and found[0].name.endswith(_UNPACKS):
            return Misread(found[0], _TIME_FIRST, "takes the last index of axis 1")
    ends = ends_of_samples(op)
    found = _sequence(op) if ends is not None else None
    if found and ends == 1 and found[1] is False:
        return Misread(found[0], _TIME_FIRST, "takes the last steps along axis 1")
    if found and ends == 0 and found[1] is True:
        return Misread(found[0], _BATCH_FIRST, "takes the last steps along axis 0")
    if _of_second_axis(op) in (0, -1):
        encoded = _encoded(op.inputs[0])
        if encoded and encoded[1] is False:
            return Misread(encoded[0], _TIME_FIRST, "takes one index of axis 1")
    return None


def swaps_last_two(op: Op) -> bool:
    """Whether the last two of three axes change places."""
    axes = axes_of(op)
    if op.name == "permute":
        return axes == [0, 2, 1]
    return (
        op.name in _TURNS
        and len(axes) == 2
        and {axis % 3 for axis in axes if isinstance(axis, int)} == {1, 2}
    )


def _sequence(reader: Op) -> tuple[Op, bool | None] | None:
    """What gives the sequence that an operation reads, and whether its batch comes first; None where that is not known."""
    call = layer_of(reader)
    if call is not None:
        return (call, is_batch_first(call.owner, 4)) if not is_packed(call) else None
    given = plain(reader.inputs[0])
    if given is None:
        return None
    encoded = _encoded(given)
    if encoded is not None:
        return encoded
    unpacked = plain(given.inputs[0]) if given.name == "getitem" and given.inputs else None
    if unpacked is not None and unpacked.name.endswith(_UNPACKS):
        return unpacked, _flag(unpacked.option(1, "batch_first"))
    return None


def _encoded(value: Value) -> tuple[Op, bool | None] | None:
    """The call of an encoder of torch's that gives a sequence, and whether its batch comes first."""
    given = plain(value)
    if given is None or given.owner is None:
        return None
    if given.owner.type == "torch.nn.TransformerEncoder":
        layer = given.owner.argument(0, "encoder_layer")
        return given, is_batch_first(layer, 6) if isinstance(layer, Object) else None
    if given.owner.type == "torch.nn.TransformerEncoderLayer":
        return given, is_batch_first(given.owner, 6)
    return None


def is_packed(call: Op) -> bool:
    return any(isinstance(one, Op) and one.name.endswith(_PACKS) for one in map(plain, call.inputs))


def _is_of_batches(call: Op) -> bool:
    """Whether what a layer is given certainly comes in batches: from a loader."""
    return any(
        isinstance(one, Op)
        and one.name == "iterate"
        and any(isinstance(each, Object) and each.is_a(LOADER) for each in one.inputs)
        for one in reached(call.inputs)
    )


def is_batch_first(layer: Object | None, position: int) -> bool | None:
    return None if layer is None or layer.is_open else _flag(layer.argument(position, "batch_first"))


def _flag(given: Value | None) -> bool | None:
    if given is None:
        return False
    return (
        given.value
        if isinstance(given, Constant) and not given.is_default and isinstance(given.value, bool)
        else None
    )


def is_last_of_second_axis(part: Op) -> bool:
    """Whether a part is `x[:, -1]`, of all that the first axis holds."""
    return _of_second_axis(part) == -1


def _of_second_axis(part: Op) -> object:
    """The `n` of `x[:, n]`, of all that the first axis holds; None for any other part."""
    index = part.options.get("index")
    if not isinstance(index, Items) or len(index.items) < 2:
        return None
    first, second = index.items[:2]
    is_whole = (
        isinstance(first, Op)
        and first.name == "[:]"
        and all(isinstance(one, Constant) and one.value is None for one in first.inputs)
    )
    return second.value if is_whole and isinstance(second, Constant) else None


def is_time_first(call: Op) -> bool:
    """Whether a recurrent layer certainly takes its input as `[time, batch, features]`."""
    layer = call.owner
    if layer is None or layer.is_open:
        return False
    batch_first = layer.argument(4, "batch_first")
    return batch_first is None or (
        isinstance(batch_first, Constant) and batch_first.value is False and not batch_first.is_default
    )
