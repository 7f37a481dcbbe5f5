"""What the conditions around an event say."""

from __future__ import annotations

from typing import Any

from trainlint.facts.model.values import Guards


def ask_for_mode(guards: Guards) -> bool:
    """Whether conditions ask for `self.training`, which says in which mode a module is."""
    return any(_names_mode(condition) for condition, _ in guards)


def are_of_evaluation(guards: Guards) -> bool:
    """Whether something only happens where `self.training` is false."""
    return any(
        not outcome and condition[:1] == ("getattr",) and _names_mode(condition[-1:])
        for condition, outcome in guards
        if isinstance(condition, tuple)
    )


def _names_mode(condition: Any) -> bool:
    if isinstance(condition, tuple):
        return any(map(_names_mode, condition))
    return isinstance(condition, str) and condition.strip("'\"") == "training"


def needs_failed_import(guards: Guards) -> bool:
    """Whether something is only there after an import has failed."""
    return any(
        isinstance(condition, tuple) and condition[:1] == ("import fails",) and outcome
        for condition, outcome in guards
    )
