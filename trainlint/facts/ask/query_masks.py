"""Masks of queries, which are the same for all keys."""

from __future__ import annotations

from trainlint.facts.model.elements import number_of
from trainlint.facts.model.values import Constant, Items, Op, Unknown, Value


def is_of_queries(mask: Value) -> bool:
    """Whether a mask is the same for all keys: it has an axis of size 1 in their place, or is called after queries."""
    for _ in range(8):
        if isinstance(mask, Unknown):
            return "quer" in mask.text.lower() or mask.text.lower().startswith("q_")
        if not isinstance(mask, Op) or not mask.inputs:
            return False
        if mask.seen is not None:
            return not mask.seen.shape or mask.seen.shape[-1] == 1
        if _ends_with_new_axis(mask):
            return True
        mask = mask.inputs[0]
    return False


def _ends_with_new_axis(op: Op) -> bool:
    if op.name in ("unsqueeze", "unsqueeze_"):
        return number_of(op.option(1, "dim")) == -1
    index = op.options.get("index") if op.name == "getitem" else None
    items = index.items if isinstance(index, Items) else ()
    is_new = [isinstance(one, Constant) and one.value is None for one in items]
    if not (is_new and is_new[-1]):
        return False
    has_all = any(isinstance(one, Constant) and one.value is ... for one in items)
    return has_all or is_new.count(False) > 1  # `mask[:, None]` of `[batch, keys]` puts an axis between
