"""The last step of each sample by its length: `h[torch.arange(n), lengths - 1]`."""

from __future__ import annotations

from trainlint.facts.model.elements import number_of
from trainlint.facts.model.values import Items, Op, Value


def ends_of_samples(part: Op) -> int | None:
    """The axis along which a part takes the step before a length, where the other one of the first two goes through all
    samples; None for any other part."""
    index = part.options.get("index")
    if not isinstance(index, Items) or not index.exact or len(index.items) != 2:
        return None
    first, second = index.items
    if _goes_through_all(first) and _is_before_length(second):
        return 1
    return 0 if _is_before_length(first) and _goes_through_all(second) else None


def _goes_through_all(index: Value) -> bool:
    return isinstance(index, Op) and index.name in ("arange", "range") and len(index.inputs) == 1


def _is_before_length(index: Value) -> bool:
    while isinstance(index, Op) and index.name in ("long", "to", "clamp", "int") and index.inputs:
        index = index.inputs[0]
    is_less = isinstance(index, Op) and index.name == "-" and len(index.inputs) == 2
    return is_less and number_of(index.parts()[1]) == 1
