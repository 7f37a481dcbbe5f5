"""Phases of one program, each with optimizers of its own: what the rules say of all of them."""

from __future__ import annotations

from dataclasses import replace

from trainlint.facts.model.recorded import Recorded
from trainlint.finding import Finding, Place, Problem
from trainlint.judging import Judged, judged


def judged_by_phase(run: Recorded, problems: dict[Problem, None]) -> Judged:
    """What the rules say of each phase. The evidence of what a later one alone shows names it."""
    said = [judged(phase, problems) for phase in run.phases]
    found: dict[tuple[str, Place, str | None], Finding] = {}
    for number, one in enumerate(said, 1):
        for finding in one.findings:
            named = (
                replace(finding, evidence={**finding.evidence, "phase": number}) if number > 1 else finding
            )
            found.setdefault((finding.code, finding.at, finding.subject), named)
    openings = dict.fromkeys(opening for one in said for opening in one.openings)
    unfinished = frozenset().union(*(one.unfinished for one in said))
    return Judged(tuple(found.values()), tuple(openings), unfinished)
