"""Recurrent layers, and which axis of what they give a program looks at."""

from __future__ import annotations

from trainlint.facts.api.layers import RECURRENT
from trainlint.facts.model.values import Constant, Op, Value


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
