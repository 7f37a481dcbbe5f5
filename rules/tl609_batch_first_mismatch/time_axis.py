"""Which axis a recurrent layer takes for time, and which one a program does."""

from __future__ import annotations

from typing import NamedTuple

from trainlint.facts.api.classes import LOADER
from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.layers import layer_of
from trainlint.facts.model.elements import number_of
from trainlint.facts.model.values import Constant, Items, Object, Op, Value

_POOLS = frozenset("mean sum max amax min amin logsumexp median".split())
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
    if op.name != "getitem":
        return None
    index = op.options.get("index")
    if isinstance(index, Constant) and index.value == -1:
        found = _sequence(op)
        if found and found[1] is True and _is_of_batches(found[0]):
            return Misread(found[0], _BATCH_FIRST, "takes the last index of axis 0")
    if is_last_of_second_axis(op):
        state = _state(op.inputs[0])
        if state is not None:
            return Misread(state, _STATE, "takes the last index of axis 1")
        found = _sequence(op)
        if found and found[1] is False and found[0].name.endswith(_UNPACKS):
            return Misread(found[0], _TIME_FIRST, "takes the last index of axis 1")
    return None


def _sequence(reader: Op) -> tuple[Op, bool | None] | None:
    """What gives the sequence that an operation reads, and whether its batch comes first; None where that is not known."""
    call = layer_of(reader)
    if call is not None:
        return (call, _is_batch_first(call.owner, 4)) if not _is_packed(call) else None
    given = _plain(reader.inputs[0])
    if given is None:
        return None
    if given.owner is not None and given.owner.type == "torch.nn.TransformerEncoder":
        layer = given.owner.argument(0, "encoder_layer")
        return given, _is_batch_first(layer, 6) if isinstance(layer, Object) else None
    if given.owner is not None and given.owner.type == "torch.nn.TransformerEncoderLayer":
        return given, _is_batch_first(given.owner, 6)
    unpacked = _plain(given.inputs[0]) if given.name == "getitem" and given.inputs else None
    if unpacked is not None and unpacked.name.endswith(_UNPACKS):
        return unpacked, _flag(unpacked.option(1, "batch_first"))
    return None


def _plain(value: Value) -> Op | None:
    while (
        isinstance(value, Op) and value.name == "output" and value.inputs and isinstance(value.inputs[0], Op)
    ):
        value = value.inputs[0]
    return value if isinstance(value, Op) else None


def _is_packed(call: Op) -> bool:
    return any(isinstance(one, Op) and one.name.endswith(_PACKS) for one in map(_plain, call.inputs))


def _is_of_batches(call: Op) -> bool:
    """Whether what a layer is given certainly comes in batches: from a loader."""
    return any(
        isinstance(one, Op)
        and one.name == "iterate"
        and any(isinstance(each, Object) and each.is_a(LOADER) for each in one.inputs)
        for one in reached(call.inputs)
    )


def _state(value: Value) -> Op | None:
    """The call of a recurrent layer of which a value is the last hidden state: `[layers, batch, features]`."""
    given = _plain(value)
    if given is None or given.name != "getitem" or not given.inputs:
        return None
    inner = _plain(given.inputs[0])
    position = number_of(given.options.get("index"))
    if inner is not None and inner.owner is not None and position == 1:
        return inner if inner.owner.type in ("torch.nn.GRU", "torch.nn.RNN") else None
    if (
        inner is None
        or inner.name != "getitem"
        or number_of(inner.options.get("index")) != 1
        or not inner.inputs
    ):
        return None
    call = _plain(inner.inputs[0])
    is_lstm = call is not None and call.owner is not None and call.owner.type == "torch.nn.LSTM"
    return call if is_lstm else None


def _is_batch_first(layer: Object | None, position: int) -> bool | None:
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
    index = part.options.get("index")
    if not isinstance(index, Items) or len(index.items) < 2:
        return False
    first, second = index.items[:2]
    return (
        isinstance(first, Op)
        and first.name == "[:]"
        and all(isinstance(one, Constant) and one.value is None for one in first.inputs)
        and isinstance(second, Constant)
        and second.value == -1
    )


def is_time_first(call: Op) -> bool:
    """Whether a recurrent layer certainly takes its input as `[time, batch, features]`."""
    layer = call.owner
    if layer is None or layer.is_open:
        return False
    batch_first = layer.argument(4, "batch_first")
    return batch_first is None or (
        isinstance(batch_first, Constant) and batch_first.value is False and not batch_first.is_default
    )
