"""The findings: what is wrong, the source that shows it, and what the run says of it."""

from __future__ import annotations

from typing import Any

from trainlint.finding import Finding
from trainlint.html_report.cases import Case, refuted, standing
from trainlint.html_report.markup import Html, joined, prose, tag
from trainlint.html_report.panel import Panel
from trainlint.html_report.source import excerpts
from trainlint.output.words import count, number, place
from trainlint.project.source_texts import Lines
from trainlint.report import Report

_VERDICTS = {
    "confirmed": "the run shows it too",
    "observed": "seen in the run",
    "not-reached": "the run did not show it",
    "refuted": "the run shows that it does not happen",
}


def findings_panel(report: Report, lines: Lines) -> Panel:
    found, gone = standing(report), refuted(report)
    body = joined(
        [_case(one, lines) for one in found],
        tag("p", "No rule found anything wrong.", class_="good") if not found else None,
        tag(
            "details",
            tag("summary", f"{count(len(gone), 'finding')} of the source that the run has refuted"),
            [_case(one, lines) for one in gone],
        )
        if gone
        else None,
        tag("h3", "Problems") if report.problems else None,
        tag("ul", [tag("li", f"{one.shown}: {one.message}") for one in report.problems])
        if report.problems
        else None,
    )
    note = count(len(report.standing), "finding") if found else "none"
    return Panel("findings", "Findings", body, note, alarming=bool(report.by_level["error"]))


def _case(case: Case, lines: Lines) -> Html:
    finding = case.first
    level = finding.level or "error"
    heading = tag(
        "h3",
        tag("span", level, class_=f"level {level}"),
        tag("code", finding.code),
        " ",
        finding.name,
        tag("span", finding.verdict, class_="verdict", title=_VERDICTS.get(finding.verdict))
        if finding.verdict
        else None,
    )
    return tag(
        "article",
        heading,
        tag("p", prose(finding.message)),
        _others(case),
        _evidence(finding),
        excerpts(finding, lines),
        id=case.key,
        class_=f"finding {level}",
    )


def _others(case: Case) -> Html | None:
    """What else the same reason has done."""
    rest = case.findings[1:]
    if not rest:
        return None
    named = [
        joined(tag("code", one.subject), " (", tag("span", place(one.at), class_="place"), ")")
        for one in rest
    ]
    parts = [joined(", " if number else "", one) for number, one in enumerate(named)]
    return tag("p", "The same holds for ", parts, ".")


def _evidence(finding: Finding) -> Html | None:
    rows = [("about", finding.subject)] if finding.subject else []
    rows += [(name, _shown(value)) for name, value in finding.evidence.items()]
    if not rows:
        return None
    return tag(
        "dl", [tag("div", tag("dt", name), tag("dd", value)) for name, value in rows], class_="evidence"
    )


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return number(value)
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_shown, value))
    return str(value)
