"""Findings that are there and not reported: they stand in a baseline, or on lines that have not changed."""

from __future__ import annotations

import os
from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from trainlint.check.baseline import Baseline, baseline_to_write, read_baseline
from trainlint.check.changed import Changed, changed_since
from trainlint.errors import UsageError
from trainlint.finding import Finding, Place, Problem
from trainlint.project.source_texts import SourceTexts
from trainlint.report import Report, Withheld


@dataclass(frozen=True)
class Limits:
    """What findings are held against. `rewrite`: all that is found goes into the baseline first."""

    baseline: Baseline | None = None
    rewrite: bool = False
    changed: Changed | None = None


def limits(file: Path | None, rewrite: bool, revision: str | None, folder: Path) -> Limits:
    """Raises UsageError where one of them cannot be had, or where they contradict each other."""
    if rewrite and file is None:
        raise UsageError(
            "--write-baseline needs a file: add --baseline FILE, or `baseline` to the configuration"
        )
    if rewrite and revision is not None:
        raise UsageError(
            "--write-baseline cannot be combined with --changed-only: a baseline contains all findings"
        )
    changed = None if revision is None else changed_since(revision, folder)
    if file is None:
        return Limits(changed=changed)
    return Limits(baseline_to_write(file) if rewrite else read_baseline(file), rewrite, changed)


def withhold(
    report: Report, everything: Sequence[Finding], given: Limits, texts: SourceTexts, read: Container[str]
) -> Report:
    """The report without what is to be held back.

    Args:
        everything: all that was found, whether or not its rule is on.
        read: the files that were looked into.
    """
    if given.baseline is not None:
        report = _without_known(report, everything, given.baseline, given.rewrite, texts, read)
    return report if given.changed is None else _of_changes(report, given.changed, texts)


def _without_known(
    report: Report,
    everything: Sequence[Finding],
    baseline: Baseline,
    rewrite: bool,
    texts: SourceTexts,
    read: Container[str],
) -> Report:
    speaking = [one for one in everything if not one.suppressed]
    matched = baseline.matched(speaking, texts.lines, read)
    new = set(map(id, matched.new))
    if rewrite:
        shown = set(map(id, report.shown))
        keep = [one for one in speaking if id(one) in shown or id(one) not in new]
        baseline.rewritten(keep, texts.lines, read).write()
        return replace(
            report,
            findings=tuple(one for one in report.findings if one.suppressed),
            withheld=replace(report.withheld, known=len(shown)),
        )
    kept = tuple(one for one in report.findings if one.suppressed or id(one) in new)
    known = len(report.findings) - len(kept)
    return replace(report, findings=kept, withheld=replace(report.withheld, known=known, gone=matched.gone))


def _of_changes(report: Report, changed: Changed, texts: SourceTexts) -> Report:
    findings = tuple(one for one in report.findings if changed.touches(_places(one, texts)))
    unchanged = sum(not one.suppressed for one in report.findings) - sum(
        not one.suppressed for one in findings
    )
    problems = tuple(one for one in report.problems if _concerns(one, changed))
    withheld: Withheld = replace(report.withheld, unchanged=unchanged)
    return replace(report, findings=findings, problems=problems, withheld=withheld)


def _places(finding: Finding, texts: SourceTexts) -> list[Place]:
    """All places that a finding needs, in the lines of their files."""
    places = [finding.at, *(because.at for because in finding.because)]
    return [texts.located(place).in_file for place in places]


def _concerns(problem: Problem, changed: Changed) -> bool:
    return os.path.isdir(problem.path) or changed.has_file(problem.path)
