"""Diagonals of masks for queries at the end of longer keys, as with a cache: `tril(keys - queries)`."""

from __future__ import annotations

from collections.abc import Sequence

from trainlint.facts.ask.sizes import is_same_size
from trainlint.facts.model.effort import spend
from trainlint.facts.model.elements import number_of, plain
from trainlint.facts.model.values import Op, Value

_MOST_TERMS = 8


def from_the_end(diagonal: Value | None, size: Sequence[Value]) -> int | None:
    """How far a diagonal lies above the one on which the last query meets the last key; None where that is not known."""
    if diagonal is None or len(size) < 2:
        return None
    keys, queries, ahead = 0, 0, 0
    for term, sign in _terms(diagonal):
        number = number_of(term)
        if isinstance(number, int | float) and number == int(number):
            ahead += sign * int(number)
        elif sign > 0 and is_same_size(term, size[-1]):
            keys += 1
        elif sign < 0 and is_same_size(term, size[-2]):
            queries += 1
        else:
            return None
    return ahead if (keys, queries) == (1, 1) else None


def _terms(total: Value) -> list[tuple[Value, int]]:
    """What a sum or difference is made of, each with its sign."""
    pending: list[tuple[Value, int]] = [(total, 1)]
    found: list[tuple[Value, int]] = []
    while pending and len(found) < _MOST_TERMS:
        spend()
        one, sign = pending.pop()
        if isinstance(one, Op) and plain(one) in ("+", "-") and len(one.inputs) == 2:
            first, second = one.inputs
            pending += [(first, sign), (second, sign if plain(one) == "+" else -sign)]
        else:
            found.append((one, sign))
    return found
