"""What recurrent layers give: a sequence, and the last state of every layer and direction."""

from __future__ import annotations

from trainlint.facts.model.elements import number_of
from trainlint.facts.model.values import Op, Value


def recurrent_state(value: Value) -> Op | None:
    """The call of a recurrent layer of which a value is the last hidden state: `[layers, batch, features]`."""
    given = plain(value)
    if given is None or given.name != "getitem" or not given.inputs:
        return None
    inner = plain(given.inputs[0])
    position = number_of(given.options.get("index"))
    if inner is not None and inner.owner is not None and position == 1:
        is_flat = inner.owner.type == "torch.nn.LSTM" and given.seen is not None  # a run shows one tuple
        return inner if is_flat or inner.owner.type in ("torch.nn.GRU", "torch.nn.RNN") else None
    if (
        inner is None
        or inner.name != "getitem"
        or number_of(inner.options.get("index")) != 1
        or not inner.inputs
    ):
        return None
    call = plain(inner.inputs[0])
    is_lstm = call is not None and call.owner is not None and call.owner.type == "torch.nn.LSTM"
    return call if is_lstm else None


def plain(value: Value) -> Op | None:
    """The operation that a value is, without what modules give back."""
    while (
        isinstance(value, Op) and value.name == "output" and value.inputs and isinstance(value.inputs[0], Op)
    ):
        value = value.inputs[0]
    return value if isinstance(value, Op) else None
