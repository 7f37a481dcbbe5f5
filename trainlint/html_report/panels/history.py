"""The recorded steps of a long run: where a loss began to grow, and between which steps it stopped being finite."""

from __future__ import annotations

import math
from collections.abc import Callable

from trainlint.facts.model.recorded import Recorded
from trainlint.facts.seen.history import HEADS, Milestone, began_between
from trainlint.html_report.charts.chart import Axis, Chart, Point, Series
from trainlint.html_report.charts.svg import svg
from trainlint.html_report.markup import joined, tag
from trainlint.html_report.panel import Cell, Panel, table
from trainlint.output.words import number


def history_panel(run: Recorded) -> Panel | None:
    held = run.facts(Milestone)
    if len(held) < 2:
        return None
    rows = [
        (
            Cell(one.step, numeric=True),
            _cell(one.loss),
            _cell(one.gradient),
            Cell(one.non_finite or "", numeric=True, kind="bad" if one.non_finite else ""),
            _cell(one.weight),
            _cell(one.rate),
            tag("code", one.largest) if one.largest else "",
        )
        for one in held
    ]
    began = began_between(held)
    body = joined(
        tag("p", f"{began}.") if began else None,
        svg(_chart("Loss of the recorded steps", "loss", held, lambda one: one.loss)),
        svg(
            _chart("Gradient norm of the recorded steps", "norm", held, lambda one: one.gradient, is_log=True)
        ),
        table("The latest recorded steps", HEADS, rows),
    )
    return Panel("history", "Earlier recorded steps", body, began and "not finite", alarming=bool(began))


def _cell(value: float | None) -> Cell:
    if value is None:
        return Cell("", numeric=True)
    return Cell(number(value), numeric=True, kind="" if math.isfinite(value) else "bad")


def _chart(
    title: str,
    name: str,
    held: list[Milestone],
    take: Callable[[Milestone], float | None],
    *,
    is_log: bool = False,
) -> Chart:
    values = [(one.step, value) for one in held if (value := take(one)) is not None]
    points = tuple(Point(step, value, f"step {step}: {number(value)}") for step, value in values)
    finite = [value for _, value in values if math.isfinite(value)]
    lost = tuple(
        Point(step, min(finite, default=1.0), f"step {step}: {number(value)}")
        for step, value in values
        if not math.isfinite(value)
    )
    series = (Series(name, "line", points), Series("not finite", "cross", lost, 5))
    ends = f"from {number(values[0][1])} to {number(values[-1][1])}" if values else "nothing is known"
    return Chart(title, f"{name}: {ends}", Axis("step", whole=True), Axis(name, is_log=is_log), series)
