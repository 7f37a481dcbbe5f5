"""Findings in the source, joined with what a recorded run has shown of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from trainlint.facts.model.recorded import Recorded
from trainlint.facts.seen.blind_spots import Elsewhere, Missed, NotBuilt, NotTried, Numbered, Opaque
from trainlint.finding import Finding, Open, Place
from trainlint.judging import Judged
from trainlint.rules import entries

LEFT_OPEN = "left open"
"""Under this name, the evidence of what is undecided says what the run has not shown of it."""

Said = TypeVar("Said", Finding, Open)


def joined(read: Sequence[Finding], ran: Judged, recorded: Recorded) -> list[Finding]:
    """Every finding once, with its verdict; one of a rule that knows the source alone has none.

    A finding of the source is confirmed if its rule also fires on the run at the same place, or if the program
    failed there; undecided, with the reason, if the place ran and the run cannot tell; refuted if it ran and the rule
    did not fire; and not reached if it did not run. What only the run shows is observed.
    """
    unread = [
        one
        for one in ran.findings
        if not any(one.code == other.code and _overlap(one.at, other.at) for other in read)
    ]
    found = [_judged(one, ran, recorded, unread) for one in read]
    seen = {(one.code, one.at, one.subject) for one in found}
    for one in unread:
        if (one.code, one.at, one.subject) not in seen:
            seen.add((one.code, one.at, one.subject))
            found.append(replace(one, verdict="observed"))
    return sorted(found, key=lambda one: (one.at, one.code, one.subject or ""))


def _judged(finding: Finding, ran: Judged, recorded: Recorded, unread: Sequence[Finding]) -> Finding:
    """A finding of the source with its verdict; `unread` is what the run alone has shown."""
    same = list(_at_the_same_place(ran.findings, finding))
    if same:
        evidence: dict[str, Any] = {}
        for one in same:
            evidence.update(one.evidence)
        return _confirmed(finding, evidence, same[0].subject)
    ending = recorded.ended
    if ending.how == "failed" and ending.at is not None and _overlap(ending.at, finding.at):
        return _confirmed(finding, {"the program failed here": ending.error})
    rule = next(entry.rule for entry in entries() if entry.code == finding.code)
    if rule.by == "S" or not finding.is_shown_by_runs:
        return finding
    left_open = list(_at_the_same_place(ran.openings, finding))
    if left_open:
        reasons = dict.fromkeys(one.why for one in left_open if one.why)
        return _undecided(finding, ", ".join(reasons))
    if finding.code not in ran.unfinished and any(
        one.at == finding.at and not one.detached
        for phase in recorded.phases
        for one in phase.facts(Numbered)
    ):
        return _confirmed(finding, {"carried a gradient": True})
    if not _has_run(finding, recorded):
        return replace(finding, verdict="not-reached")
    why = _why_not_refuted(finding, rule.refutable, ran, recorded, unread)
    return _undecided(finding, why) if why else replace(finding, verdict="refuted")


def _undecided(finding: Finding, why: str) -> Finding:
    return replace(finding, verdict="undecided", evidence={LEFT_OPEN: why} if why else {})


def _why_not_refuted(
    finding: Finding, refutable: bool, ran: Judged, recorded: Recorded, unread: Sequence[Finding]
) -> str:
    """Why a run that came by and did not show what was found there proves nothing; empty where it does."""
    if finding.code in ran.unfinished:
        return "this rule did not come to an end on the run"
    if not refutable:
        return "a run on this machine cannot disprove it"
    failed = recorded.ended.at
    if failed is not None and any(_overlap(failed, because.at) for because in finding.because):
        return "the program failed where it would have shown"
    elsewhere = next((one for one in unread if one.code == finding.code), None)
    if elsewhere is not None:
        return f"the run shows the same at {elsewhere.at.path}:{elsewhere.at.line}"
    return ""


def _confirmed(finding: Finding, evidence: dict[str, Any], subject: str | None = None) -> Finding:
    """A finding that a run has shown: nothing is left to doubt."""
    shown = replace(finding, verdict="confirmed", evidence=evidence, confidence="certain", doubt="")
    return replace(shown, subject=subject) if subject is not None else shown


def _at_the_same_place(said: Sequence[Said], finding: Finding) -> Iterator[Said]:
    """What the rule of a finding says of its place."""
    return (one for one in said if one.code == finding.code and _overlap(one.at, finding.at))


def _has_run(finding: Finding, recorded: Recorded) -> bool:
    """Whether the program came by a place."""
    place = finding.at
    return any((place.path, line) in recorded.lines for line in range(place.line, place.end_line + 1))


def _overlap(first: Place, second: Place) -> bool:
    return first.path == second.path and first.line <= second.end_line and second.line <= first.end_line


def not_checked(findings: Sequence[Finding], recorded: Recorded) -> Iterator[str]:
    """What was not checked, in sentences."""
    for number, phase in enumerate(recorded.phases, 1):
        for sentence in _not_checked_in(phase):
            yield f"phase {number}: {sentence}" if recorded.later else sentence
    missed = sorted({one.code for one in findings if one.verdict == "not-reached"})
    if missed:
        yield f"lines that the run did not reach, with findings of {', '.join(missed)}"
    undecided = sorted(
        {
            f"{one.code} ({one.evidence.get(LEFT_OPEN, 'no reason is known')})"
            for one in findings
            if one.verdict == "undecided"
        }
    )
    if undecided:
        yield f"lines that ran without showing what a rule asks: {', '.join(undecided)}"
    absent = [
        f"{entry.code} {entry.name}"
        for entry in entries()
        if entry.rule.by == "T" and not any(phase.facts(entry.rule.fact) for phase in recorded.phases)
    ]
    if absent:
        yield f"rules without anything to check in this run: {', '.join(absent)}"


def _not_checked_in(recorded: Recorded) -> Iterator[str]:
    """What one phase did not show."""
    ending = recorded.ending
    if ending.by_hand:
        at = ending.by_hand_at
        where = f" at {at.path}:{at.line}" if at is not None else ""
        yield f"parameters are updated by hand{where}, without an optimizer: rules about optimizers were not checked"
    if not ending.backwards:
        yield "no backward pass ran: gradients, updates and losses were not checked"
    elif not ending.trained:
        yield "no optimizer stepped: updates and leftover gradients were not checked"
    elif recorded.nodes and not recorded.remains and ending.steps:
        yield "no optimizer stepped a second time: whether gradients are cleared was not checked"
    for one in recorded.facts(Missed):
        yield f"the recorder failed, which is a bug in trainlint: {one.text}"
    threads = sorted({one.thread for one in recorded.facts(Elsewhere)})
    if threads:
        yield (
            f"one thread is recorded, the first that trains: training in {', '.join(threads)} was not checked"
        )
    for later in recorded.facts(NotBuilt):
        yield (
            f"the optimizer that {later.path}:{later.line} builds did not step in the time that --phase-seconds "
            "gives, so its phase was not recorded"
        )
    for tried in dict.fromkeys(recorded.facts(NotTried)):
        yield f"{tried.code} was not tried: {tried.why}"
    opaque = sorted({one.text for one in recorded.facts(Opaque)})
    if opaque:
        yield f"modules that torch compiles were not checked inside: {', '.join(opaque)}"
