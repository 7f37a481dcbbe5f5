"""One cause, one finding: what one rule says of a place that another one has explained already is left out."""

from __future__ import annotations

from collections.abc import Iterable

from trainlint.finding import Finding
from trainlint.rules import entries


def without_covered(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Those that no finding of a rule in their own rule's `covered_by` stands at one of their places. Advice, which is off
    unless it is asked for, takes the place of advice alone."""
    found = tuple(findings)
    rules = {entry.code: entry.rule for entry in entries()}
    by = {code: rule.covered_by.split() for code, rule in rules.items() if rule.covered_by}
    if all(one.code not in by for one in found):
        return found
    advice = {code for code, rule in rules.items() if rule.level == "info"}
    said = {(one.code, one.at) for one in found}
    return tuple(
        one
        for one in found
        if not any(
            (code, at) in said
            for code in by.get(one.code, ())
            if code not in advice or one.code in advice
            for at in (one.at, *(because.at for because in one.because))
        )
    )
