"""Logits at all steps of a recurrent layer that has the batch first, or of an encoder of transformers: their classes are the third
axis."""

from __future__ import annotations

import re

from trainlint.facts.api.layers import RECURRENT
from trainlint.facts.api.noted import PAD_PACKED
from trainlint.facts.ask.sequences import index_of
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.values import Op, Value, constant

_SAME_AXES = frozenset(
    "output identity to float double half bfloat16 clone contiguous dropout relu gelu tanh log_softmax softmax layer_norm linear "
    "torch.nn.ReLU torch.nn.LeakyReLU torch.nn.GELU torch.nn.ELU torch.nn.SiLU torch.nn.Tanh torch.nn.LayerNorm".split()
)
_MOST = 40

_ENCODER = re.compile(r"transformers\.(?:\w+\.)*\w+Model(?:\.(?:from_pretrained|from_config|_from_config))?")
_ALL_STATES = "last_hidden_state"


def of_all_steps(loss: LossCall) -> Op | None:
    """The last linear layer behind such a layer or encoder, where nothing has chosen a step or moved axes since."""
    value: Value | None = loss.input
    last: Op | None = None
    for _ in range(_MOST):
        if not isinstance(value, Op) or not value.inputs:
            return None
        if value.name == "getattr":
            return last if constant(value.options.get("name")) == _ALL_STATES else None
        if value.name == "getitem":
            return last if _gives_all_steps(value) else None
        if value.name not in _SAME_AXES:
            return None
        last = last or (value if value.name == "linear" else None)
        value = value.inputs[0]
    return None


def _gives_all_steps(part: Op) -> bool:
    """Whether it is the first of what an encoder gives, or a recurrent layer that is told to take batches first, and has taken
    one; or of sequences that are unpacked."""
    call: Value = part.inputs[0]
    while isinstance(call, Op) and call.name == "output" and call.inputs:
        call = call.inputs[0]
    if not isinstance(call, Op) or constant(index_of(part)) != 0:
        return False
    if call.name == PAD_PACKED:
        return True
    if call.owner is None:
        return False
    if call.owner.definition is None and _ENCODER.fullmatch(call.owner.type) is not None:
        return True
    if call.name not in RECURRENT or call.owner.is_open:
        return False
    return constant(call.owner.argument(4, "batch_first")) is True
