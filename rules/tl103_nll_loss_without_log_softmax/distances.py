"""Distances to the prototypes of classes: where they are small, the class is likely."""

from __future__ import annotations

from trainlint.facts.api.meanings import KEEPS
from trainlint.facts.model.effort import spend
from trainlint.facts.model.elements import plain
from trainlint.facts.model.values import Constant, Op, Value, constant


def negated_distances(value: Value | None) -> Op | None:
    """The distances in `-cdist(x, prototypes)` and `-((x[:, None] - prototypes) ** 2).sum(-1)`, scaled or not; None for all else."""
    is_negated = False
    while isinstance(value, Op) and value.inputs and not value.written:
        spend()
        if value.name in ("-", "neg", "negative") and len(value.inputs) == 1:
            is_negated = not is_negated
            value = value.inputs[0]
        elif value.name in KEEPS or (value.name in ("/", "div") and isinstance(value.inputs[-1], Constant)):
            value = value.inputs[0]
        else:
            break
    is_distance = isinstance(value, Op) and (value.name == "cdist" or _is_sum_of_squares(value))
    return value if isinstance(value, Op) and is_negated and is_distance else None


def _is_sum_of_squares(value: Op) -> bool:
    square = value.inputs[0] if value.name in ("sum", "mean") and value.inputs else None
    if not isinstance(square, Op) or not square.inputs:
        return False
    is_power = plain(square) in ("**", "pow") and constant(square.inputs[-1]) == 2
    difference = square.inputs[0] if is_power or square.name == "square" else None
    return isinstance(difference, Op) and difference.name in ("-", "sub") and len(difference.inputs) == 2
