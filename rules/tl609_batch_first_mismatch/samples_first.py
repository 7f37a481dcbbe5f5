"""What a shuffling loader stacks: its first axis holds samples, in an order that says nothing of time."""

from __future__ import annotations

import re

from trainlint.facts.api.classes import LOADER
from trainlint.facts.api.layers import EMBEDDING, RECURRENT
from trainlint.facts.ask.asking import question
from trainlint.facts.ask.new_axes import new_axis
from trainlint.facts.ask.shapes import keeps_shape, shape_read
from trainlint.facts.model.elements import number_of, plain
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.events.operations import AttentionCall
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Carried, Choice, Constant, Object, Op, Value, alternatives, constant

from .axes import axes_of, given_to, is_first_size
from .positions import is_attention_batch_first
from .time_axis import is_packed, is_time_first

_LAYERS = re.compile(
    r"torch\.nn\.(Linear|LayerNorm|Dropout\w*|\w*ReLU|GELU|ELU|SiLU|Tanh|Sigmoid|BatchNorm\dd|Conv\dd|(Adaptive)?(Max|Avg)Pool\dd|"
    r"Embedding|Identity|GRU|LSTM|RNN|MultiheadAttention|Transformer(Encoder|Decoder)(Layer)?)$"
)
_FUNCTIONS = frozenset(f"{name}{n}d" for name in ("conv", "max_pool", "avg_pool") for n in (1, 2, 3)) | {
    "linear",
    "embedding",
    "batch_norm",
    "layer_norm",
}
_TURNS = frozenset("transpose swapaxes swapdims permute".split())
_ARITHMETIC = frozenset("+-*/")
_ATTENDS = "torch.nn.MultiheadAttention"


def given_samples(call: Op) -> Op | None:
    """The part of a batch that a recurrent layer is given with the samples first, where it takes them for time."""
    if call.name not in RECURRENT or not call.inputs or not is_time_first(call) or is_packed(call):
        return None
    return samples_first(call.inputs[0])


def attended_samples(call: AttentionCall) -> Op | None:
    """The same of a layer of attention that takes its first axis for the sequence, and is given three axes."""
    if is_attention_batch_first(call.output.owner) is not False:
        return None
    given = call.output.option(0, "src") or call.output.options.get("query")
    return samples_first(given) if given is not None and _has_three_axes(given) else None


@question(start=None, unknown=None)
def samples_first(value: Value) -> Op | None:
    """The part of a shuffled batch whose samples certainly lie along the first axis of a value."""
    if isinstance(value, Carried):
        return samples_first(value.start)
    if isinstance(value, Choice):
        found = [samples_first(one) for one in alternatives(value)]
        return found[0] if found and None not in found else None
    if not isinstance(value, Op) or not value.inputs or value.seen is not None:
        return None
    if _is_part(value):
        return value
    if plain(value) in _ARITHMETIC and len(value.inputs) == 2:
        return samples_first(value.inputs[0]) or samples_first(value.inputs[1])
    return samples_first(value.inputs[0]) if _keeps_first(value) else None


def is_one_of_several(training: Training, part: Op) -> bool:
    """Whether a batch certainly has several parts, so that one of them is no sample: the dataset says so, parts have names,
    or the targets of a loss are another one."""
    number = _key(part)
    if part.drawn is not None or isinstance(number, str):
        return True
    for loss in training.events(LossCall):
        target: Value | None = loss.target
        while isinstance(target, Op) and target.inputs:
            is_of_it = target.name == "getitem" and target.inputs[0] is part.inputs[0]
            if is_of_it and type(_key(target)) is int and _key(target) != number:
                return True
            target = target.inputs[0]
    return False


def _key(op: Op) -> object:
    return constant(op.options.get("index") or op.options.get("name"))


def _is_part(op: Op) -> bool:
    """A part of what a loader stacks of many samples, in random order."""
    batch = op.inputs[0] if op.name in ("getitem", "getattr") and isinstance(_key(op), (str, int)) else op
    loader = batch.inputs[0] if isinstance(batch, Op) and batch.name == "iterate" else None
    return isinstance(loader, Object) and loader.type == LOADER and not loader.is_open and _stacks(loader)


def _stacks(loader: Object) -> bool:
    size = loader.argument(1, "batch_size")
    is_many = size is not None and not (isinstance(size, Constant) and size.value in (None, 1))
    collates = loader.argument(6, "collate_fn")
    return (
        is_many
        and (collates is None or (isinstance(collates, Constant) and collates.value is None))
        and constant(loader.argument(2, "shuffle")) is True
    )


def _keeps_first(op: Op) -> bool:
    """Whether the samples stay where they are."""
    if op.owner is not None and op.owner.definition is None and op.name not in ("output", "linear"):
        return _LAYERS.match(op.owner.type) is not None
    name = plain(op)
    if op.name in ("output", "identity", EMBEDDING) or keeps_shape(op) or name in _FUNCTIONS:
        return True
    if name in _TURNS:
        return 0 not in _turned(op)
    if name == "flatten":
        start = number_of(op.option(1, "start_dim"))
        return isinstance(start, int) and start > 0
    if name in ("view", "reshape"):
        sizes = given_to(op)
        return len(sizes) > 1 and is_first_size(sizes[0])
    added = new_axis(op)
    return added != 0 if added is not None else op.name == "getitem" and _is_of_layer(op)


def _is_of_layer(op: Op) -> bool:
    """The sequence that a recurrent layer, or attention, gives in a tuple."""
    inner = op.inputs[0]
    while isinstance(inner, Op) and inner.name == "output" and inner.inputs:
        inner = inner.inputs[0]
    is_layer = isinstance(inner, Op) and (inner.name in RECURRENT or inner.name == _ATTENDS)
    return is_layer and number_of(op.options.get("index")) == 0


def _turned(op: Op) -> list[object]:
    """The axes that change places; the first among them where that is not known."""
    axes = axes_of(op)
    if not axes or None in axes:
        return [0]
    if op.name == "permute":
        return list(axes[1:]) if axes[0] == 0 else [0]
    rank = len(shape_read(op.inputs[0]) or ())
    return [axis % rank if rank and isinstance(axis, int) else max(0, axis or 0) for axis in axes]


@question(start=False, unknown=False)
def _has_three_axes(value: Value) -> bool:
    """Whether a tensor certainly has a sequence for each sample, and no single row."""
    shape = shape_read(value)
    if shape is not None:
        return len(shape) == 3
    if isinstance(value, Carried):
        return _has_three_axes(value.start)
    if isinstance(value, Choice):
        return all(map(_has_three_axes, alternatives(value)))
    if not isinstance(value, Op) or not value.inputs:
        return False
    name = plain(value)
    if name in _TURNS or name == EMBEDDING:
        return name != "permute" or len(_turned(value)) == 2
    if name in _ARITHMETIC and len(value.inputs) == 2:
        return any(map(_has_three_axes, value.inputs))
    return name != "flatten" and _keeps_first(value) and _has_three_axes(value.inputs[0])
