"""What the conditions around an event say."""

from __future__ import annotations

from trainlint.facts.model.values import Guards


def needs_failed_import(guards: Guards) -> bool:
    """Whether something is only there after an import has failed."""
    return any(
        isinstance(condition, tuple) and condition[:1] == ("import fails",) and outcome
        for condition, outcome in guards
    )
