"""What was tried on copies of the model because somebody asked for it."""

from __future__ import annotations

from collections.abc import Iterator

from trainlint.facts.model.recorded import Recorded
from trainlint.facts.seen.tried import QUESTIONS, VERDICTS, Tried
from trainlint.html_report.charts.chart import Axis, Chart, Point, Series
from trainlint.html_report.charts.svg import svg
from trainlint.html_report.markup import Html, joined, tag
from trainlint.html_report.panel import Cell, Panel, table
from trainlint.output.words import count, number

_LOOKS = {"passed": "good", "failed": "bad", "not possible": "dim"}


def probes_panel(run: Recorded) -> Panel | None:
    tried = run.facts(Tried)
    if not tried:
        return None
    rows = [
        (
            tag("code", one.name),
            QUESTIONS.get(one.name, one.name),
            Cell(VERDICTS.get(one.verdict, one.verdict).rstrip(":"), kind=_LOOKS.get(one.verdict, "")),
            one.said,
        )
        for one in tried
    ]
    heads = ("probe", "what holds where it passes", "verdict", "what was seen")
    body = joined(table("Tried on copies of the model and its optimizer", heads, rows), _charts(tried))
    failed = sum(one.verdict == "failed" for one in tried)
    passed = sum(one.verdict == "passed" for one in tried)
    note = f"{failed} failed" if failed else f"{count(passed, 'probe')} passed"
    return Panel("probes", "Probes", body, note, alarming=bool(failed))


def _charts(tried: list[Tried]) -> Iterator[Html]:
    for one in tried:
        if len(one.curve) < 2:
            continue
        is_rate = one.name == "learning-rate"
        points = tuple(Point(x, y, f"{number(x)}: {number(y)}") for x, y in one.curve)
        series = [Series("loss", "line", points)]
        mark = one.numbers.get("loss of the best constant")
        if mark is not None:
            series.append(Series(f"the best constant: {number(mark)}", "rule", (Point(0, mark),), 5))
        title = "Loss by learning rate" if is_rate else "Loss of one batch, step by step"
        axis = Axis("learning rate", is_log=True) if is_rate else Axis("step", whole=True)
        yield svg(Chart(title, one.said, axis, Axis("loss"), tuple(series)))
