"""What the conditions around an event say."""

from __future__ import annotations

from typing import Any

from trainlint.facts.model.values import Guards


def counting(guards: Guards) -> Guards:
    """Those that hold in every n-th round, such as `i % 4 == 0`."""
    return tuple(guard for guard in guards if _counts(guard[0]))


def comparing(guards: Guards) -> Guards:
    """Those that say which of two values is the larger one, such as `a >= b`."""
    return tuple(guard for guard in guards if _compares(guard[0]))


def is_in_handler(guards: Guards) -> bool:
    """Whether an event only happens after an exception was caught."""
    return any(
        isinstance(condition, tuple) and condition[:1] in (("handler",), ("import fails",)) and outcome
        for condition, outcome in guards
    )


def needs_failed_import(guards: Guards) -> bool:
    """Whether something is only there after an import has failed."""
    return any(
        isinstance(condition, tuple) and condition[:1] == ("import fails",) and outcome
        for condition, outcome in guards
    )


def _compares(condition: Any) -> bool:
    match condition:
        case ("<" | "<=" | ">" | ">=", (one, *_), (other, *_)):
            return "constant" not in (one, other)
    return False


def _counts(condition: Any) -> bool:
    return isinstance(condition, tuple) and (condition[:1] == ("%",) or any(map(_counts, condition)))
