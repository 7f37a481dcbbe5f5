"""Time and memory of the recorded steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trainlint.facts.model.recorded import Recorded
from trainlint.facts.seen.pace import Pace
from trainlint.facts.seen.timeline import Span
from trainlint.html_report.charts.chart import Axis, Chart, Point, Series
from trainlint.html_report.charts.svg import svg
from trainlint.html_report.markup import Content, Html, joined, tag
from trainlint.html_report.panel import Cell, Panel, table
from trainlint.output.words import memory, seconds, share

_KINDS = {"data": "waiting for data", "forward": "forward", "backward": "backward", "step": "optimizer step"}
_COLOURS = {"data": 3, "forward": 0, "backward": 1, "step": 2}
_MOST_STEPS = 12
_MOST_MODULES = 15
_SLOW_DATA = 0.5
"""Share of a step spent waiting for data that is worth a look."""


@dataclass(frozen=True)
class StepTime:
    """The phases of a step, in seconds since its beginning."""

    number: int
    phases: tuple[Span, ...]

    @property
    def begin(self) -> float:
        return min(one.begin for one in self.phases)

    @property
    def whole(self) -> float:
        return max(one.end for one in self.phases) - self.begin

    def of(self, kind: str) -> float:
        return sum(one.end - one.begin for one in self.phases if one.kind == kind)


def step_times(run: Recorded) -> list[StepTime]:
    """Each whole step that was recorded: one that an optimizer has ended."""
    held: dict[int, list[Span]] = {}
    for one in run.facts(Span):
        if one.depth == 0:
            held.setdefault(one.step, []).append(one)
    return [
        StepTime(number, tuple(phases))
        for number, phases in sorted(held.items())
        if any(one.kind == "step" for one in phases)
    ]


def time_panel(run: Recorded) -> Panel | None:
    steps = step_times(run)
    pace = next(iter(run.facts(Pace)), None)
    if not steps and pace is None:
        return None
    typical = steps[-1] if steps else None
    waiting = typical.of("data") / typical.whole if typical is not None and typical.whole else 0.0
    body = joined(
        tag("p", "Measured while it was recorded, which slows the first steps most.", class_="dim"),
        svg(_chart(steps[:_MOST_STEPS])) if steps else None,
        table("Time of each step", _HEADS, map(_row, steps[:_MOST_STEPS])) if steps else None,
        _modules(run.facts(Span), typical.number) if typical is not None else None,
        _memory(pace) if pace is not None else None,
    )
    peak = memory(pace.peak) if pace is not None and pace.peak is not None else ""
    slow = waiting > _SLOW_DATA
    whole = seconds(typical.whole) if typical is not None else ""
    note = f"{share(waiting)} waiting for data" if slow else ", ".join(filter(None, (whole, peak)))
    return Panel("time", "Time and memory", body, note, alarming=slow)


def _chart(steps: Sequence[StepTime]) -> Chart:
    series = [
        Series(
            name,
            "span",
            tuple(
                Point(
                    (one.begin - step.begin) * 1e3,
                    row,
                    f"step {step.number}, {name}: {seconds(one.end - one.begin)}",
                    (one.end - step.begin) * 1e3,
                )
                for row, step in enumerate(steps)
                for one in step.phases
                if one.kind == kind
            ),
            _COLOURS[kind],
        )
        for kind, name in _KINDS.items()
    ]
    last = steps[-1]
    said = ", ".join(f"{name} {seconds(last.of(kind))}" for kind, name in _KINDS.items() if last.of(kind))
    return Chart(
        "What each step spends its time on",
        f"Step {last.number} takes {seconds(last.whole)}: {said}",
        Axis("milliseconds"),
        Axis("", names=tuple(f"step {one.number}" for one in steps)),
        tuple(series),
        height=70 + 26 * len(steps),
    )


_HEADS = ("step", "whole", *_KINDS.values(), "other")


def _row(step: StepTime) -> Sequence[Cell | Content]:
    parts = [step.of(kind) for kind in _KINDS]
    return (
        str(step.number),
        *(
            Cell(seconds(one) if one > 0 else "", numeric=True)
            for one in (step.whole, *parts, max(0.0, step.whole - sum(parts)))
        ),
    )


def _modules(spans: Sequence[Span], step: int) -> Html | None:
    """The modules that take longest, by the time of their own."""
    forward: dict[str, float] = {}
    backward: dict[str, float] = {}
    for one in _own(spans, step):
        into = forward if one.kind == "forward" else backward
        into[one.name] = into.get(one.name, 0.0) + one.end - one.begin
    both = {name: forward.get(name, 0.0) + backward.get(name, 0.0) for name in {*forward, *backward}}
    whole = sum(both.values())
    if not whole or len(both) < 2:
        return None
    slowest = sorted(both, key=lambda name: (-both[name], name))[:_MOST_MODULES]
    rows = [
        (
            tag("code", name or "the model itself"),
            Cell(seconds(forward.get(name)), numeric=True),
            Cell(seconds(backward.get(name)), numeric=True),
            Cell(share(both[name] / whole), numeric=True),
        )
        for name in slowest
    ]
    return table(
        f"Modules that take longest in step {step}", ("module", "forward", "backward", "share"), rows
    )


def _own(spans: Sequence[Span], step: int) -> list[Span]:
    """The spans of a step with their own time alone: without that of the modules that they call."""
    here = [one for one in spans if one.step == step]
    found = [one for one in here if one.kind == "backward" and one.depth == 1]
    forwards = [one for one in here if one.kind == "forward"]
    inner: dict[int, float] = {}
    stack: list[Span] = []
    for one in sorted(forwards, key=lambda one: (one.begin, one.depth)):
        while stack and stack[-1].depth >= one.depth:
            stack.pop()
        if stack:
            inner[id(stack[-1])] = inner.get(id(stack[-1]), 0.0) + one.end - one.begin
        stack.append(one)
    for one in forwards:
        own = max(0.0, one.end - one.begin - inner.get(id(one), 0.0))
        found.append(Span("forward", one.name, one.begin, one.begin + own, step, one.depth))
    return found


def _memory(pace: Pace) -> Html | None:
    where = "on the GPU" if pace.device == "cuda" else "of the process"
    said = (
        tag("p", f"Most memory {where} at any time: ", tag("b", memory(pace.peak)), ".")
        if pace.peak
        else None
    )
    if len(pace.memory) < 3:
        return said
    points = tuple(
        Point(n, held / 1e6, f"backward {n}: {memory(held)}") for n, held in enumerate(pace.memory, 1)
    )
    chart = Chart(
        "Memory held after each backward pass",
        f"From {memory(pace.memory[0])} to {memory(pace.memory[-1])}",
        Axis("backward pass", whole=True),
        Axis("MB", ends=(0.0,)),
        (Series("memory", "line", points),),
        height=170,
    )
    return joined(said, svg(chart))
