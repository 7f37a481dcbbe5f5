"""How the work grows with the size of a program."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .measure import Measured

LINEAR = 1.35
"""Work that grows with a smaller power of the text counts as linear."""
PLENTY = 400
"""Calls of functions for each token of a program, about eight times what ordinary programs take."""
ALLOWED = 1_600_000
"""Calls that any program may take: what is evaluated up to the limit of steps."""
_NOTHING = 0.05
"""A rise by less than this share of the first is none."""


def exponent(found: Sequence[Measured]) -> float:
    """The power of the text with which work grows between the last two sizes: 1 is linear, 2 is quadratic.

    What the cheapest program costs and holds is taken off first: the part that does not grow. Infinite where the
    work for the last was too much to be counted, 0 where there is nothing to compare.
    """
    if found[-1].work is None:
        return math.inf
    least = min(found, key=_work)
    risen = [(_work(one) - _work(least), one.tokens - least.tokens) for one in found[-2:]]
    if len(risen) < 2 or min(longer for _, longer in risen) <= 0:
        return 0.0
    (had_risen, shorter), (has_risen, longer) = risen
    if has_risen <= _NOTHING * _work(least) or shorter == longer:
        return 0.0
    return max(0.0, math.log(has_risen / max(had_risen, 1)) / math.log(longer / shorter))


def _work(one: Measured) -> int:
    assert one.work is not None, "only the last is given up"
    return one.work


def verdict(found: Sequence[Measured]) -> str:
    """In a word: `linear`, or what is wrong."""
    last = found[-1]
    if last.work is None:
        return f"does not end at {last.size} ({last.said})"
    if exponent(found) > LINEAR:
        return "grows too fast"
    most = max(_work(one) / one.tokens if _work(one) > ALLOWED else 0 for one in found)
    return "linear" if most <= PLENTY else f"costs {most:.0f} calls a token"
