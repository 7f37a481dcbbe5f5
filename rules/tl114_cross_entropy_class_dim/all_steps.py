"""Logits at all steps of a recurrent layer that has the batch first: their classes are the third axis."""

from __future__ import annotations

from trainlint.facts.api.layers import RECURRENT
from trainlint.facts.ask.sequences import index_of
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.values import Op, Value, constant

_SAME_AXES = frozenset(
    "output identity to float double half bfloat16 clone contiguous dropout relu gelu tanh log_softmax softmax layer_norm linear "
    "torch.nn.ReLU torch.nn.LeakyReLU torch.nn.GELU torch.nn.ELU torch.nn.SiLU torch.nn.Tanh torch.nn.LayerNorm".split()
)
_MOST = 40


def of_all_steps(loss: LossCall) -> Op | None:
    """The last linear layer behind such a recurrent layer, where nothing has chosen a step or moved axes since."""
    value: Value | None = loss.input
    last: Op | None = None
    for _ in range(_MOST):
        if not isinstance(value, Op) or not value.inputs:
            return None
        if value.name == "getitem":
            return last if _gives_all_steps(value) else None
        if value.name not in _SAME_AXES:
            return None
        last = last or (value if value.name == "linear" else None)
        value = value.inputs[0]
    return None


def _gives_all_steps(part: Op) -> bool:
    """Whether it is the first of what a recurrent layer gives that is told to take batches first, and has taken one."""
    call: Value = part.inputs[0]
    while isinstance(call, Op) and call.name == "output" and call.inputs:
        call = call.inputs[0]
    if not isinstance(call, Op) or call.name not in RECURRENT or call.owner is None or call.owner.is_open:
        return False
    return constant(index_of(part)) == 0 and constant(call.owner.argument(4, "batch_first")) is True
