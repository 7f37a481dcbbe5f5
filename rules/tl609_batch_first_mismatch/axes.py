"""Axes and sizes as a program writes them."""

from __future__ import annotations

from collections.abc import Sequence

from trainlint.facts.model.elements import Element, number_of
from trainlint.facts.model.values import Items, Op, Value


def given_to(op: Op) -> Sequence[Value]:
    """The axes of `permute(0, 2, 1)` and the sizes of `view(n, -1)`, in a tuple or not."""
    is_tuple = len(op.inputs) == 2 and isinstance(op.inputs[1], Items)
    return op.inputs[1].items if is_tuple and isinstance(op.inputs[1], Items) else op.inputs[1:]


def axes_of(op: Op) -> list[Element]:
    return [number_of(one) for one in given_to(op)]


def is_first_size(value: Value) -> bool:
    """`x.size(0)`, `x.shape[0]`."""
    if not isinstance(value, Op) or not value.inputs:
        return False
    if value.name == "size":
        return number_of(value.option(1, "dim")) == 0
    sizes = value.inputs[0]
    is_of_sizes = value.name == "getitem" and isinstance(sizes, Op) and sizes.name in ("shape", "size")
    return is_of_sizes and number_of(value.options.get("index")) == 0
