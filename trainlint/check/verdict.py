"""Findings in the source, joined with what a recorded run has shown of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from trainlint.facts.model.recorded import Recorded
from trainlint.facts.seen.blind_spots import Elsewhere, Missed, Numbered, Opaque
from trainlint.finding import Finding, Open, Place
from trainlint.judging import Judged
from trainlint.rules import entries

LEFT_OPEN = "left open"
"""Under this name, the evidence of what is not reached says what the run has not shown of it."""

Said = TypeVar("Said", Finding, Open)


def joined(read: Sequence[Finding], ran: Judged, recorded: Recorded) -> list[Finding]:
    """Every finding once, with its verdict; one of a rule that knows the source alone has none.

    A finding of the source is confirmed if its rule also fires on the run at the same place, or if the program
    failed there; refuted if the place ran, the rule did not fire and left nothing open there, and the program did not
    fail at a place that the finding leads to; and not reached otherwise. What only the run shows is observed.
    """
    found = [_judged(one, ran, recorded) for one in read]
    seen = {(one.code, one.at, one.subject) for one in found}
    for one in ran.findings:
        known = any(one.code == other.code and _overlap(one.at, other.at) for other in read)
        if not known and (one.code, one.at, one.subject) not in seen:
            seen.add((one.code, one.at, one.subject))
            found.append(replace(one, verdict="observed"))
    return sorted(found, key=lambda one: (one.at, one.code, one.subject or ""))


def _judged(finding: Finding, ran: Judged, recorded: Recorded) -> Finding:
    same = list(_at_the_same_place(ran.findings, finding))
    if same:
        evidence: dict[str, Any] = {}
        for one in same:
            evidence.update(one.evidence)
        return _confirmed(finding, evidence, same[0].subject)
    ending = recorded.ending
    if ending.how == "failed" and ending.at is not None and _overlap(ending.at, finding.at):
        return _confirmed(finding, {"the program failed here": ending.error})
    rule = next(entry.rule for entry in entries() if entry.code == finding.code)
    if rule.by == "S":
        return finding
    left_open = list(_at_the_same_place(ran.openings, finding))
    if left_open:
        reasons = dict.fromkeys(one.why for one in left_open if one.why)
        evidence = {LEFT_OPEN: ", ".join(reasons)} if reasons else {}
        return replace(finding, verdict="not-reached", evidence=evidence)
    if finding.code not in ran.unfinished:
        if any(one.at == finding.at for one in recorded.facts(Numbered)):
            return _confirmed(finding, {"carried a gradient": True})
        if rule.refutable and _has_run(finding, recorded):
            return replace(finding, verdict="refuted")
    return replace(finding, verdict="not-reached")


def _confirmed(finding: Finding, evidence: dict[str, Any], subject: str | None = None) -> Finding:
    """A finding that a run has shown: nothing is left to doubt."""
    shown = replace(finding, verdict="confirmed", evidence=evidence, confidence="certain", doubt="")
    return replace(shown, subject=subject) if subject is not None else shown


def _at_the_same_place(said: Sequence[Said], finding: Finding) -> Iterator[Said]:
    """What the rule of a finding says of its place."""
    return (one for one in said if one.code == finding.code and _overlap(one.at, finding.at))


def _has_run(finding: Finding, recorded: Recorded) -> bool:
    """Whether the program came by a place, and did not fail where what is wrong with it would have shown."""
    place, failed = finding.at, recorded.ending.at
    if failed is not None and any(_overlap(failed, because.at) for because in finding.because):
        return False
    return any((place.path, line) in recorded.lines for line in range(place.line, place.end_line + 1))


def _overlap(first: Place, second: Place) -> bool:
    return first.path == second.path and first.line <= second.end_line and second.line <= first.end_line


def not_checked(findings: Sequence[Finding], recorded: Recorded) -> Iterator[str]:
    """What was not checked, in sentences."""
    ending = recorded.ending
    if ending.by_hand:
        at = ending.by_hand_at
        where = f" at {at.path}:{at.line}" if at is not None else ""
        yield f"parameters are updated by hand{where}, without an optimizer: rules about steps were not checked"
    not_reached = [one for one in findings if one.verdict == "not-reached"]
    missed = sorted({one.code for one in not_reached if LEFT_OPEN not in one.evidence})
    if missed:
        yield f"lines that the run did not reach, or not often enough, with findings of {', '.join(missed)}"
    undecided = sorted(
        {f"{one.code} ({one.evidence[LEFT_OPEN]})" for one in not_reached if LEFT_OPEN in one.evidence}
    )
    if undecided:
        yield f"lines that ran without showing what a rule asks: {', '.join(undecided)}"
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
            f"only the thread that imports torch is recorded: training in {', '.join(threads)} was not "
            "checked"
        )
    opaque = sorted({one.text for one in recorded.facts(Opaque)})
    if opaque:
        yield f"modules that torch compiles were not checked inside: {', '.join(opaque)}"
    absent = [
        f"{entry.code} {entry.name}"
        for entry in entries()
        if entry.rule.by == "T" and not recorded.facts(entry.rule.fact)
    ]
    if absent:
        yield f"rules without anything to check in this run: {', '.join(absent)}"
