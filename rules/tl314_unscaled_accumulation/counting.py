"""Conditions that hold on every n-th iteration."""

from __future__ import annotations

from typing import Any

from trainlint.facts.model.values import Guards


def counting(guards: Guards) -> Guards:
    """Those that hold in every n-th iteration, such as `i % 4 == 0`; `i % 1 == 0` holds in each."""
    return tuple(guard for guard in guards if _counts(guard[0]))


def _counts(condition: Any) -> bool:
    match condition:
        case ("%", _, number):
            return bool(number != ("constant", "1"))
        case tuple():
            return any(map(_counts, condition))
    return False
