"""How the work grows with the size of a program."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .measure import Measured

LINEAR = 1.35
"""Work that grows with a smaller power of the text counts as linear."""
_NOTHING = 0.05
"""A rise by less than this share of the first is none."""


def exponent(found: Sequence[Measured]) -> float:
    """The power of the text with which work grows between the last two sizes: 1 is linear, 2 is quadratic.

    What the smallest program costs and holds is taken off first: the part that does not grow. Infinite where the
    work for the last was too much to be counted.
    """
    first, (before, last) = found[0], found[-2:] if len(found) > 1 else (found[0], found[0])
    if last.work is None:
        return math.inf
    assert first.work is not None and before.work is not None
    risen, had_risen = last.work - first.work, before.work - first.work
    if risen <= _NOTHING * first.work or last.tokens == before.tokens:
        return 0.0
    longer = (last.tokens - first.tokens) / (before.tokens - first.tokens)
    return max(0.0, math.log(risen / max(had_risen, 1)) / math.log(longer))


def verdict(found: Sequence[Measured]) -> str:
    """In a word: `linear`, or what is wrong."""
    last, grows = found[-1], exponent(found)
    if last.work is None:
        return f"does not end at {last.size} ({last.said})"
    return "linear" if grows <= LINEAR else "grows too fast"
