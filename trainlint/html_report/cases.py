"""Findings that have one reason are one case: forty parameters behind one `detach()` are told once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from trainlint.finding import Because, Finding, Verdict
from trainlint.report import Report

_SHOWN = ("confirmed", "observed")
_ORDER = {"error": 0, "warning": 1, "info": 2}


@dataclass(frozen=True)
class Case:
    """One thing that is wrong.

    Args:
        key: its anchor on the page.
        findings: what was found of it; the first is told in full.
    """

    key: str
    findings: tuple[Finding, ...]

    @property
    def first(self) -> Finding:
        return self.findings[0]


def cases(findings: Iterable[Finding], prefix: str = "finding") -> list[Case]:
    """Errors first, and those that the run has shown before those that it has not."""
    ordered = sorted(
        findings,
        key=lambda one: (_ORDER[one.level or "error"], one.verdict not in _SHOWN, one.at, one.code),
    )
    groups: dict[tuple[str, str | None, Verdict | None, object], list[Finding]] = {}
    for number, one in enumerate(ordered):
        groups.setdefault((one.code, one.level, one.verdict, _reason(one) or number), []).append(one)
    return [Case(f"{prefix}-{number}", tuple(group)) for number, group in enumerate(groups.values(), 1)]


def standing(report: Report) -> list[Case]:
    return cases(report.standing)


def refuted(report: Report) -> list[Case]:
    return cases((one for one in report.shown if one.verdict == "refuted"), "refuted")


def _reason(finding: Finding) -> tuple[Because, ...]:
    """The places that it shares with others about other modules or parameters."""
    return finding.because if finding.subject is not None else ()
