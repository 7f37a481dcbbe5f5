"""What two recordings do not have in common."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

from trainlint.output.words import number

NONE = "-"
"""What stands for something that is not there."""

FACTOR = 2.0
"""Two numbers within this factor count as equal: another seed, or another machine, changes as much."""

One = TypeVar("One")


@dataclass(frozen=True)
class Difference:
    """Something that differs.

    Args:
        topic: the table that it stands in: `order`, `losses`, `modules`, ...
        subject: what it is about, such as a parameter.
        what: which of its properties, such as `gradient norm`.
        before: that in the first recording, or `-` where it has none.
        after: that in the second.
        size: how much it differs, where it is a number: the factor, at least 1.
        way: how a number differs: `grew`, `shrank`, `came` or `went`; empty for what is no number.
    """

    topic: str
    subject: str
    what: str
    before: str
    after: str
    size: float = math.inf
    way: str = ""


def paired(
    topic: str,
    before: Mapping[str, One],
    after: Mapping[str, One],
    properties: Mapping[str, Callable[[One], str | float | None]],
) -> Iterator[Difference]:
    """What differs between things of one name; those that only one of the two has are named too."""
    for name in dict.fromkeys((*before, *after)):
        if name not in after:
            yield Difference(topic, name, "", "there", NONE)
        elif name not in before:
            yield Difference(topic, name, "", NONE, "there")
        else:
            for what, of in properties.items():
                yield from compared(topic, name, what, of(before[name]), of(after[name]))


def compared(
    topic: str, subject: str, what: str, before: str | float | None, after: str | float | None
) -> Iterator[Difference]:
    """The difference between two properties, if there is one that counts."""
    if isinstance(before, float) and isinstance(after, float):
        size = _factor(before, after)
        if size >= FACTOR:
            way = "shrank" if abs(after) < abs(before) else "grew"
            yield Difference(topic, subject, what, number(before), number(after), size, way)
    elif before != after:
        numeric = isinstance(before, float) or isinstance(after, float)
        way = "" if not numeric else "went" if after is None else "came"
        yield Difference(topic, subject, what, _shown(before), _shown(after), way=way)


def _factor(before: float, after: float) -> float:
    if before == after or (math.isnan(before) and math.isnan(after)):
        return 1.0
    if not (math.isfinite(before) and math.isfinite(after)) or not before or not after:
        return math.inf
    if (before < 0) != (after < 0):
        return math.inf
    return max(abs(before / after), abs(after / before))


def _shown(value: str | float | None) -> str:
    return NONE if value is None or value == "" else number(value) if isinstance(value, float) else value
