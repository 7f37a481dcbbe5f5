"""Conditions that exclude each other: one setting cannot be two constants at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

HANDLER = "handler"
"""How a condition begins that an exception has been caught."""

OFF = "off by default"
"""What the key of a setting begins with that is False where nobody sets it."""

DRAWN = "drawn at random"
"""What the key of a random number between 0 and 1 begins with."""


class Compared(NamedTuple):
    """`subject in constants`, or `subject == constant`: what is compared, and the constants as Python writes them."""

    subject: Any
    constants: frozenset[str]


def compared(condition: Any) -> Compared | None:
    """What a condition compares with constants that are certainly different from each other; None for any other one."""
    match condition:
        case ("==" | "is", subject, ("constant", str(text))) if _is_plain(text):
            return Compared(subject, frozenset((text,)))
        case ("==", ("constant", str(text)), subject) if _is_plain(text):
            return Compared(subject, frozenset((text,)))
        case ("in", subject, ("constants", *texts)) if all(map(_is_plain, texts)):
            return Compared(subject, frozenset(texts))
    return None


def _is_plain(text: str) -> bool:
    """Whether it is a string, None or a whole number: `1`, `1.0` and `True` are equal, though written in three ways."""
    return text[:1] in ("'", '"') or text == "None" or text.removeprefix("-").isdigit()


def measures(condition: Any) -> bool:
    """Whether a condition counts, or compares sizes, as `step % 4 == 0` and `epoch < 5` do."""
    if not isinstance(condition, tuple):
        return False
    return condition[:1] in (("%",), ("//",), ("<",), ("<=",)) or any(map(measures, condition))


def outcome_of(condition: Any, known: Mapping[Any, bool]) -> bool | None:
    """How a condition turns out where others are known; None where that is open."""
    if condition in known:
        return known[condition]
    asked = compared(condition)
    if asked is None or not known:
        return None
    others = ((compared(other), holds) for other, holds in known.items())
    same = [
        (one.constants, holds) for one, holds in others if one is not None and one.subject == asked.subject
    ]
    return is_among(asked.constants, same)


def is_among(constants: frozenset[str], known: Iterable[tuple[frozenset[str], bool]]) -> bool | None:
    """Whether a setting is one of some constants, where it is known of others whether it is one of them."""
    left: frozenset[str] | None = None
    excluded: frozenset[str] = frozenset()
    for others, holds in known:
        if not holds:
            excluded |= others
        else:
            left = others if left is None else left & others
    if left is None:
        return False if constants <= excluded else None
    left -= excluded
    if left <= constants:
        return True
    return None if left & constants else False
