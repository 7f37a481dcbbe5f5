"""Recurrent layers, and which axis of what they give a program looks at."""

from __future__ import annotations

from trainlint.facts.api.torch_api import RECURRENT
from trainlint.facts.model.values import Constant, Items, Op, Value


def layer_of(part: Op) -> Op | None:
    """The call of a recurrent layer whose outputs at all steps an operation takes a part of."""
    given: Value = part.inputs[0]
    if isinstance(given, Op) and given.name == "output" and given.inputs:
        given = given.inputs[0]
    if not (isinstance(given, Op) and given.name == "getitem" and given.inputs):
        return None
    position = given.options.get("index")
    call = given.inputs[0]
    if isinstance(call, Op) and call.name == "output" and call.inputs:
        call = call.inputs[0]
    is_first = isinstance(position, Constant) and position.value == 0
    return call if is_first and isinstance(call, Op) and call.name in RECURRENT else None


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
