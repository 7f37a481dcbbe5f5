"""Heads that are merged where they stand: what `F.scaled_dot_product_attention` gives, `[batch, heads, length, size]`, as a
view with the length behind the batch."""

from __future__ import annotations

from trainlint.facts.api.attention import SDPA
from trainlint.facts.ask.asking import reached
from trainlint.facts.model.elements import number_of
from trainlint.facts.model.values import Op, Value

from .axes import axis_of, leading, sizes

_KEEPS = frozenset("output contiguous clone to type_as float half bfloat16 dropout alias identity".split())


def merges_heads(view: Op) -> bool:
    """Whether a view puts the length of the queries where their heads are. One head mixes nothing."""
    given: Value = view.inputs[0]
    while isinstance(given, Op) and given.inputs and given.name in _KEEPS:
        given = given.inputs[0]
    if not isinstance(given, Op) or given.name != SDPA or view.seen is not None:
        return False
    query = given.option(0, "query")
    before, after = leading(query) if query is not None else (), sizes(view)
    if query is None or len(before) < 3 or len(after) < 2 or _has_one_head(query):
        return False
    batch, length = axis_of(after[0]), axis_of(after[1])
    return batch is not None and length is not None and (batch, length) == (before[0], before[2])


def _has_one_head(query: Value) -> bool:
    views = reached([query], lambda one: one.inputs[:1] if isinstance(one, Op) else ())
    return any(
        isinstance(one, Op) and one.name in ("view", "reshape") and 1 in map(number_of, sizes(one))
        for one in views
    )
