"""The losses of the recorded steps, beside what guessing would give."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from trainlint.facts.model.events import Backward, Event, LossCall, OptimizerStep
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.model.values import Op
from trainlint.html_report.charts.chart import Axis, Chart, Point, Series
from trainlint.html_report.charts.svg import svg
from trainlint.html_report.markup import joined, tag
from trainlint.html_report.panel import Cell, Panel, table
from trainlint.html_report.words import number, place, share

_MOST_CHARTED = 5


@dataclass(frozen=True)
class LossLine:
    """A loss over the recorded steps.

    Args:
        name: what the program calls it.
        at: where it is computed.
        values: pairs of a step and the loss in it; a step of several micro-batches has several.
        guess: what guessing gives: the logarithm of the number of classes.
        by: how that comes about, such as `log 10`.
        ignored: share of the targets that do not count.
    """

    name: str
    at: str
    values: tuple[tuple[int, float], ...]
    guess: float | None = None
    by: str = ""
    ignored: float | None = None

    @property
    def last(self) -> float:
        return self.values[-1][1]


def loss_lines(run: Recorded) -> list[LossLine]:
    """Every loss that the program computes, and every other value that gradients are computed for."""
    lines: dict[tuple[str, str], list[tuple[int, Op]]] = {}
    shown: set[int] = set()
    for step, event in _by_step(run.events(Event)):
        value = (
            event.output
            if isinstance(event, LossCall)
            else event.loss
            if isinstance(event, Backward)
            else None
        )
        if not isinstance(value, Op) or value.seen is None or "value" not in value.seen.numbers:
            continue
        if isinstance(event, LossCall) and event.function == "log_softmax":
            continue
        if isinstance(event, Backward) and value.uid in shown:
            continue
        shown.add(value.uid)
        name = event.name if isinstance(event, LossCall) else "backward()"
        lines.setdefault((name, place(event.at)), []).append((step, value))
    return [_line(name, at, held) for (name, at), held in lines.items()]


def _by_step(events: Iterable[Event]) -> Iterator[tuple[int, Event]]:
    """Every event with the number of the step that it belongs to: they end as the optimizer that stepped first steps."""
    step, first = 1, None
    for event in events:
        yield step, event
        if isinstance(event, OptimizerStep):
            first = first or event.optimizer
            step += event.optimizer is first


def _line(name: str, at: str, held: list[tuple[int, Op]]) -> LossLine:
    numbers = held[-1][1].seen.numbers if held[-1][1].seen is not None else {}
    classes = numbers.get("classes")
    guess = math.log(classes) if classes and classes > 1 else None
    values = tuple((step, one.seen.numbers["value"]) for step, one in held if one.seen is not None)
    return LossLine(name, at, values, guess, f"log {classes:.0f}" if classes else "", numbers.get("ignored"))


def losses_panel(run: Recorded) -> Panel | None:
    lines = loss_lines(run)
    if not lines:
        return None
    rows = [
        (
            tag("code", one.name),
            tag("span", one.at, class_="place"),
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
        series.append(Series(f"{one.name} ({one.at})", "line", points, colour % 5))
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
