"""What shares the memory of weights: parts of them, lists and dicts that hold them, and copies that are not deep."""

from __future__ import annotations

from trainlint.facts.model.values import Carried, Choice, Items, Op, Table, Value, constant

_OF_THE_SAME = frozenset(("iterate", "getitem", "detach", "data"))
"""What gives a part of some weights, or shares their memory."""


def shared(value: Value) -> list[Value]:
    """What a value, a part of it, or a copy that is not deep, holds of other values, the first one last."""
    if isinstance(value, Op):
        is_shallow = value.name == "copy" and constant(value.options.get("deep")) is not True
        return [value.inputs[0]] if is_shallow or value.name in _OF_THE_SAME else []
    if isinstance(value, Table):
        return [*reversed(value.others), *reversed(value.entries.values())]
    return [*reversed(value.parts())] if isinstance(value, (Choice, Carried, Items)) else []
