"""Reports as an agent reads them: few words, places to open, numbers, and what to change."""

from __future__ import annotations

from collections.abc import Iterator

from trainlint.finding import Finding, Fix
from trainlint.output.alike import Alike, folded, in_order
from trainlint.output.layout import Order
from trainlint.output.printable import printable
from trainlint.output.text import closing, shown
from trainlint.report import Report

_MOST = 40
"""Findings in one answer; the worst come first."""


def answer(report: Report) -> str:
    """How much was found, then each finding, the worst first; of those that are alike, three."""
    found = list(reversed(in_order(report.standing, Order.level)))
    lines = [closing(report).strip()]
    rows = [_row(one) for one in folded(found)]
    for row in rows[:_MOST]:
        lines += row
    if len(rows) > _MOST:
        lines.append(f"{len(rows) - _MOST} more are left out: name fewer paths, or select rules.")
    lines += [f"not checked: {printable(one.shown)}: {printable(one.message)}" for one in report.problems]
    return "\n".join(lines)


def _row(one: Finding | Alike) -> list[str]:
    if isinstance(one, Alike):
        first, *_ = one.findings
        places = ", ".join(printable(each.at.shown) for each in one.findings[:_MOST])
        return [f"{first.code} {first.name}: {len(one.findings)} more alike: {places}"]
    return list(_finding(one))


def _finding(finding: Finding) -> Iterator[str]:
    sure = f", likely: {finding.doubt}" if finding.confidence == "likely" else ""
    verdict = f", {finding.verdict} by a run" if finding.verdict else ""
    yield printable(
        f"{finding.at.shown}: {finding.level} {finding.code} {finding.name}{verdict}{sure}: {finding.message}"
    )
    for because in finding.because:
        yield printable(f"  {because.at.shown}: {because.message}")
    for name, value in finding.evidence.items():
        yield printable(f"  evidence: {name} = {shown(value)}")
    if finding.fix is not None:
        yield from _fix(finding.fix)


def _fix(fix: Fix) -> Iterator[str]:
    yield printable(f"  fix ({fix.applicability}): {fix.title}")
    for edit in fix.edits:
        at = edit.at
        yield printable(
            f"    replace {at.line}:{at.column}-{at.end_line}:{at.end_column} by {edit.replacement!r}"
        )
