"""What was checked and is right, and what was not checked."""

from __future__ import annotations

from collections.abc import Sequence

from trainlint.facts.model.recorded import Recorded
from trainlint.facts.seen.probes import Probe
from trainlint.facts.seen.raised import Warned
from trainlint.html_report.markup import Content, Html, joined, prose, tag
from trainlint.html_report.panel import Cell, Panel, table
from trainlint.output.words import count, number, place
from trainlint.report import Report
from trainlint.rules import Entry, entries

_PROBES = {
    "causal": ("outputs do not depend on later inputs", "outputs depend on later inputs"),
    "batch": ("each sample is independent of the others", "samples of a batch depend on each other"),
    "repeat": (
        "the same call from the same seed gives the same",
        "the same call from the same seed gives something else",
    ),
}
_MOST_WARNINGS = 20


def checks_panel(report: Report) -> Panel:
    run = report.run
    assert run is not None
    passed = _passed(report, run)
    body = joined(
        tag("h3", "Not checked"),
        tag("ul", [tag("li", prose(one)) for one in report.not_checked])
        if report.not_checked
        else tag("p", "Nothing was left out."),
        _probes(run.facts(Probe)),
        tag("h3", "Found nothing"),
        tag(
            "details",
            tag("summary", f"{count(len(passed), 'rule')} looked at this step and found nothing"),
            tag("ul", [tag("li", tag("code", one.code), f" {one.name}") for one in passed], class_="columns"),
        ),
        _warnings(run.facts(Warned)),
    )
    return Panel("checks", "Checked and not checked", body, count(len(passed), "rule") + " passed")


def _passed(report: Report, run: Recorded) -> list[Entry]:
    """The rules that had something to look at in the run, and nothing to say."""
    said = {one.code for one in report.findings if one.verdict != "refuted"}
    return [
        one
        for one in entries()
        if one.rule.by != "S"
        and one.code not in said
        and run.ending.after + run.ending.steps >= one.rule.steps
        and run.facts(one.rule.fact)
    ]


def _probes(found: Sequence[Probe]) -> Html | None:
    if not found:
        return None
    rows: list[Sequence[Cell | Content]] = []
    for one in dict.fromkeys(found):
        good, bad = _PROBES.get(one.kind, (one.kind, one.kind))
        rows.append(
            (
                tag("code", one.model),
                Cell(bad if one.leaked else good, kind="" if one.leaked else "good"),
                Cell(number(one.change), numeric=True),
                Cell(number(one.scale), numeric=True),
            )
        )
    return table(
        "Experiments on copies of the model",
        ("model", "what was seen", "largest change", "of outputs up to"),
        rows,
    )


def _warnings(warned: Sequence[Warned]) -> Html | None:
    said = dict.fromkeys((one.at, one.message) for one in warned if one.at is not None)
    if not said:
        return None
    shown = [
        tag("li", tag("span", place(at), class_="place"), f" {' '.join(message.split())[:300]}")
        for at, message in list(said)[:_MOST_WARNINGS]
    ]
    return joined(tag("h3", "Warnings of PyTorch and other libraries"), tag("ul", shown))
