"""The losses of the recorded steps, beside what guessing would give."""

from __future__ import annotations

import math

from trainlint.facts.ask.loss_lines import LossLine, loss_lines
from trainlint.facts.model.recorded import Recorded
from trainlint.html_report.charts.chart import Axis, Chart, Point, Series
from trainlint.html_report.charts.svg import svg
from trainlint.html_report.markup import joined, tag
from trainlint.html_report.panel import Cell, Panel, table
from trainlint.output.words import number, place, share

_MOST_CHARTED = 5


def losses_panel(run: Recorded) -> Panel | None:
    lines = loss_lines(run)
    if not lines:
        return None
    rows = [
        (
            tag("code", one.name),
            tag("span", place(one.at), class_="place"),
            Cell(number(one.values[0][1]), numeric=True),
            Cell(number(one.last), numeric=True, kind="" if math.isfinite(one.last) else "bad"),
            Cell(len(one.values), numeric=True),
            Cell(f"{number(one.guess)} ({one.by})" if one.guess is not None else "", numeric=True),
            Cell(share(one.ignored) if one.ignored is not None else "", numeric=True),
        )
        for one in lines
    ]
    heads = ("loss", "computed at", "first", "last", "recorded", "guessing gives", "targets ignored")
    several = len({step for one in lines for step, _ in one.values}) > 1
    body = joined(
        svg(_chart(lines[:_MOST_CHARTED])) if several else None,
        table("Each loss that was computed", heads, rows),
        tag("p", _advice(lines), class_="dim") if _advice(lines) else None,
    )
    wrong = [one for one in lines if not math.isfinite(one.last)]
    main = next((one for one in lines if one.guess is not None), lines[0])
    note = "not finite" if wrong else number(main.last)
    return Panel("losses", "Losses", body, note, alarming=bool(wrong))


def _chart(lines: list[LossLine]) -> Chart:
    series = []
    for colour, one in enumerate(lines):
        points = tuple(
            Point(step, value, f"{one.name}, step {step}: {number(value)}") for step, value in one.values
        )
        series.append(Series(f"{one.name} ({place(one.at)})", "line", points, colour % 5))
    finite = [value for one in lines for _, value in one.values if math.isfinite(value)]
    lost = tuple(
        Point(step, min(finite, default=0.0), f"{one.name}, step {step}: {number(value)}")
        for one in lines
        for step, value in one.values
        if not math.isfinite(value)
    )
    series.append(Series("not finite", "cross", lost, 5))
    guesses = {one.by: one.guess for one in lines if one.guess is not None}
    for by, guess in guesses.items():
        series.append(Series(f"guessing: {by} = {number(guess)}", "rule", (Point(0, guess),), 5))
    said = "; ".join(
        f"{one.name} goes from {number(one.values[0][1])} to {number(one.last)}" for one in lines
    )
    return Chart("Loss of each recorded step", said, Axis("step", whole=True), Axis("loss"), tuple(series))


def _advice(lines: list[LossLine]) -> str:
    if not any(one.guess is not None for one in lines):
        return ""
    return (
        "A classifier that knows nothing has a loss of log(classes). Far above it at the first step, the logits are "
        "too large; exactly at it after many, nothing is learned."
    )
