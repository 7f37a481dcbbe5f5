"""Logits over the tokens of a sequence, and targets that are tokens of the same sequence: whatever their sizes are."""

from __future__ import annotations

from typing import NamedTuple

from trainlint.facts.api.layers import RECURRENT
from trainlint.facts.ask.sequences import index_of, is_slice
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.values import Items, Op, Value, constant

_KEEPS = frozenset(
    "output identity to float double half bfloat16 clone contiguous dropout relu gelu tanh log_softmax softmax layer_norm + "
    "torch.nn.TransformerEncoder torch.nn.TransformerDecoder".split()
)
"""Operations whose result has the axes of their first input."""
_KEEPS_TOKENS = frozenset("long to cuda cpu clone detach contiguous".split())
_MOST = 60


class _Part(NamedTuple):
    """A part of a whole with the same axes, and the cuts that make it."""

    of: Value
    cuts: list[Op]


def classes_last(loss: LossCall) -> Op | None:
    """The linear layer whose features are the last axis of logits of several sequences, where the targets are tokens of the
    same ones: they have all axes of the logits but that."""
    layer = _layer(loss.input)
    looked_up = _looked_up(layer) if layer is not None else None
    if looked_up is None or loss.target is None:
        return None
    given, target = _part(looked_up), _part(loss.target)
    if given.of is not target.of or not any(map(_takes_two_axes, (*given.cuts, *target.cuts))):
        return None
    return layer


def _layer(value: Value | None) -> Op | None:
    """The linear layer that gave these logits, perhaps cut along their axes."""
    for _ in range(_MOST):
        if not isinstance(value, Op) or not value.inputs or value.name == "linear":
            return value if isinstance(value, Op) and value.name == "linear" else None
        if value.name not in _KEEPS - {"+"} and not (value.name == "getitem" and is_slice(value)):
            return None
        value = value.inputs[0]
    return None


def _looked_up(layer: Op) -> Value | None:
    """The tokens whose embeddings become the input of a layer, each at its place."""
    pending: list[Value] = list(layer.inputs[:1])
    for _ in range(_MOST):
        value = pending.pop(0) if pending else None
        if not isinstance(value, Op) or not value.inputs:
            continue
        if value.name == "torch.nn.Embedding":
            return value.inputs[0]
        if value.name == "+":
            pending.extend(value.inputs)
        elif value.name in _KEEPS or _is_recurrent(value):
            pending.append(value.inputs[0])
    return None


def _is_recurrent(value: Op) -> bool:
    """Whether it is a recurrent layer, or its outputs at all positions."""
    if value.name != "getitem":
        return value.name in RECURRENT
    whole = value.inputs[0]
    while isinstance(whole, Op) and whole.name == "output":
        whole = whole.inputs[0]
    return isinstance(whole, Op) and whole.name in RECURRENT and constant(index_of(value)) == 0


def _part(value: Value) -> _Part:
    cuts = []
    for _ in range(_MOST):
        if not isinstance(value, Op) or not value.inputs:
            break
        if value.name == "getitem" and is_slice(value):
            cuts.append(value)
        elif value.name not in _KEEPS_TOKENS:
            break
        value = value.inputs[0]
    return _Part(value, cuts)


def _takes_two_axes(cut: Op) -> bool:
    """Whether a cut names more than one axis, as `tokens[:, 1:]` does."""
    index = index_of(cut)
    return isinstance(index, Items) and len(index.items) > 1
