"""Differences that are the same in many places, as one line."""

from __future__ import annotations

from collections.abc import Sequence

from trainlint.comparing.difference import Difference


def folded(found: Sequence[Difference]) -> list[tuple[Difference, int]]:
    """Each difference with how many there are of its kind: properties that changed in the same way are one, and of numbers
    the first stands for all."""
    groups: dict[object, list[Difference]] = {}
    for one in found:
        same = (one.topic, one.what, one.way or (one.before, one.after))
        groups.setdefault(same if one.what else (*same, one.subject), []).append(one)
    return [(group[0], len(group)) for group in groups.values()]


def named(one: Difference, count: int) -> str:
    """What a line is about."""
    if count == 1:
        return one.subject
    return f"{one.subject} and {count - 1} more" if one.what else f"{one.subject}, {count} times"
