"""One cause, one finding: what one rule says of a place that another one has explained already is left out."""

from __future__ import annotations

from collections.abc import Iterable

from trainlint.finding import Finding
from trainlint.rules import entries


def without_covered(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Those that no finding of a rule in their own rule's `covered_by` stands at one of their places."""
    found = tuple(findings)
    by = {entry.code: entry.rule.covered_by.split() for entry in entries() if entry.rule.covered_by}
    if all(one.code not in by for one in found):
        return found
    said = {(one.code, one.at) for one in found}
    return tuple(
        one
        for one in found
        if not any(
            (code, at) in said
            for code in by.get(one.code, ())
            for at in (one.at, *(because.at for because in one.because))
        )
    )
