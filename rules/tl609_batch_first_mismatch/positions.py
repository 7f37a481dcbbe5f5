"""Positions that are added to a sequence along one axis, before a layer that takes another one for time."""

from __future__ import annotations

from typing import NamedTuple

from trainlint.facts.api.classes import PARAMETER
from trainlint.facts.api.layers import EMBEDDING
from trainlint.facts.api.operations import CREATES
from trainlint.facts.ask.new_axes import new_axis
from trainlint.facts.ask.shapes import shape_read
from trainlint.facts.model.elements import number_of
from trainlint.facts.model.events.operations import AttentionCall
from trainlint.facts.model.values import Carried, Choice, Object, Op, Value, alternatives

from .axes import axes_of
from .time_axis import is_batch_first

_PLACES = {
    "torch.nn.MultiheadAttention": 8,
    "torch.nn.TransformerEncoderLayer": 6,
    "torch.nn.TransformerDecoderLayer": 6,
    "torch.nn.Transformer": 10,
}
"""Where a layer takes `batch_first`."""

_HOLDS_LAYER = {
    "torch.nn.TransformerEncoder": "encoder_layer",
    "torch.nn.TransformerDecoder": "decoder_layer",
}
_SAME = frozenset("output dropout layer_norm to contiguous type float half alias torch.nn.LayerNorm".split())
_OF_TABLES = frozenset(
    "getitem unsqueeze squeeze transpose permute to type float detach clone output alias data dropout requires_grad_ "
    "cuda expand expand_as long".split()
)
_SPREADS = frozenset("expand expand_as repeat".split())
_TURNS = frozenset("transpose swapaxes permute".split())
_MOST = 30


class Misplaced(NamedTuple):
    """What adds the positions, the axis that they lie along, and the call of the layer."""

    op: Op
    axis: int
    call: AttentionCall


def misplaced(call: AttentionCall) -> Misplaced | None:
    """Positions that lie along the axis which an attention layer takes for the batch."""
    batch_first = is_attention_batch_first(call.output.owner)
    given = call.output.option(0, "src") or call.output.options.get("query")
    if batch_first is None or given is None:
        return None
    pending = [(one, 0) for one in alternatives(given)]
    for _ in range(_MOST):
        if not pending:
            return None
        op, turns = pending.pop()
        if not isinstance(op, Op) or not op.inputs or op.seen is not None:
            continue
        if op.name == "+" and len(op.inputs) == 2:
            sides = (op.inputs, op.inputs[::-1])
            found = [axis for one, other in sides if (axis := along(one, other)) is not None]
            if len(found) == 1:
                is_batch = (found[0] + turns) % 2 == (0 if batch_first else 1)
                return Misplaced(op, found[0], call) if is_batch and op.at is not None else None
        if op.name in _TURNS:
            if not _swaps_first_two(op):
                continue
            turns += 1
        elif op.name not in _SAME and not _is_scaled(op):
            continue
        pending += [(one, turns) for one in alternatives(op.inputs[0])]
    return None


def is_attention_batch_first(layer: Object | None) -> bool | None:
    if layer is not None and layer.type in _HOLDS_LAYER:
        inner = layer.argument(0, _HOLDS_LAYER[layer.type])
        layer = inner if isinstance(inner, Object) else None
    return is_batch_first(layer, _PLACES[layer.type]) if layer is not None and layer.type in _PLACES else None


def _is_scaled(op: Op) -> bool:
    return op.name in ("*", "/") and len(op.inputs) == 2 and not isinstance(op.inputs[1], (Choice, Carried))


def _swaps_first_two(op: Op) -> bool:
    axes = axes_of(op)
    return axes == [1, 0, 2] if op.name == "permute" else axes in ([0, 1], [1, 0])


def along(value: Value, sequence: Value) -> int | None:
    """The axis of a sequence, `[batch, time, features]` or `[time, batch, features]`, that a table of positions lies
    along; None for anything else that is added to it."""
    shape = shape_read(value)
    source = _source(value)
    if source is not None and (spread := _spread(value)) is not None:
        return spread
    if shape is None or source is None:
        return None
    if len(shape) == 3 and 1 in shape[:2] and shape[0] != shape[1]:
        return 1 if shape[0] == 1 else 0
    index = source.option(0, "input")
    counted = _counts(index) if source.name == EMBEDDING and index is not None else None
    return 1 if len(shape) == 2 and counted is not None and _is_second_axis(counted, sequence) else None


def _spread(value: Value) -> int | None:
    """The axis along which numbers of positions lie in what an embedding looks up, `arange(n).unsqueeze(0).expand(b, n)`."""
    while isinstance(value, Op) and value.inputs and value.name in _SAME:
        value = value.inputs[0]
    index = value.option(0, "input") if isinstance(value, Op) and value.name == EMBEDDING else None
    while isinstance(index, Op) and index.inputs and index.name in (*_SPREADS, *_SAME, "long"):
        index = index.inputs[0]
    added = new_axis(index) if index is not None else None
    return {0: 1, 1: 0, -1: 0}.get(added) if added is not None else None


def _source(value: Value) -> Op | None:
    """The parameter, the fresh tensor, or the embedding of positions that a table is taken from."""
    while isinstance(value, Op) and value.inputs:
        if value.name in CREATES or value.name == PARAMETER:
            return value
        if value.name == EMBEDDING:
            index = value.option(0, "input")
            return value if index is not None and _counts(index) is not None else None
        if value.name not in _OF_TABLES:
            return None
        value = value.inputs[0]
    return None


def _counts(index: Value) -> Op | None:
    """The `arange` that indices are."""
    while isinstance(index, Op) and index.inputs:
        if index.name == "arange":
            return index
        if index.name not in _OF_TABLES:
            return None
        index = index.inputs[0]
    return None


def _is_second_axis(counted: Op, sequence: Value) -> bool:
    """Whether there is a position for each index along axis 1 of a sequence, or of the tokens that it was made of."""
    size = counted.inputs[-1] if len(counted.inputs) < 3 else None
    if not isinstance(size, Op) or not size.inputs:
        return False
    if size.name == "size":
        return number_of(size.option(1, "dim")) == 1 and _is_made_of(sequence, size.inputs[0])
    sized = size.inputs[0]
    if not isinstance(sized, Op) or sized.name not in ("shape", "size") or len(sized.inputs) != 1:
        return False
    is_second = size.name == "getitem" and number_of(size.options.get("index")) == 1
    return is_second and _is_made_of(sequence, sized.inputs[0])


def _is_made_of(sequence: Value, tensor: Value) -> bool:
    """Whether a sequence has the first axes of a tensor."""
    while sequence is not tensor:
        if not isinstance(sequence, Op) or not sequence.inputs:
            return False
        if sequence.name not in (*_SAME, EMBEDDING, "linear") and not _is_scaled(sequence):
            return False
        sequence = sequence.inputs[0]
    return True
