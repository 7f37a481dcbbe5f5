"""Two recordings side by side, as a page."""

from __future__ import annotations

from collections.abc import Sequence

from trainlint.comparing.compare import TOPICS
from trainlint.comparing.difference import FACTOR, Difference
from trainlint.comparing.folded import folded, named
from trainlint.facts.ask.loss_lines import loss_lines
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.seen.parameters import ParameterSeen
from trainlint.html_report.charts.chart import Axis, Chart, Point, Series
from trainlint.html_report.charts.svg import svg
from trainlint.html_report.markup import Content, Html, joined, tag
from trainlint.html_report.page import contents, document, section
from trainlint.html_report.panel import Cell, Panel, table
from trainlint.output.words import count, number


def comparison_page(
    found: Sequence[Difference], before: Recorded, after: Recorded, names: tuple[str, str]
) -> str:
    """What differs, and the curves of both."""
    title = f"trainlint: {names[0]} and {names[1]}"
    headline = count(len(found), "difference") if found else "No differences"
    header = tag(
        "header",
        tag("p", title, class_="what"),
        tag("h1", headline, class_="info" if found else "clear"),
        tag(
            "p",
            f"Numbers within a factor of {FACTOR:g} count as equal. What differs in the same way in several places is one row.",
            class_="dim",
        ),
    )
    charts = [
        one for one in (_losses(before, after, names), _gradients(before, after, names)) if one is not None
    ]
    panels = [one for topic in TOPICS if (one := _panel(topic, found, names)) is not None]
    if charts:
        first = sum(one.key in ("findings", "order") for one in panels)
        panels.insert(first, Panel("curves", "Losses and gradients", joined(charts)))
    return document(title, joined(header, contents(panels), map(section, panels)))


def _panel(topic: str, found: Sequence[Difference], names: tuple[str, str]) -> Panel | None:
    held = [one for one in found if one.topic == topic]
    if not held:
        return None
    rows: list[Sequence[Cell | Content]] = [
        (
            named(one, others),
            one.what,
            Cell(one.before, kind="dim"),
            Cell(tag("b", one.after)),
        )
        for one, others in folded(held)
    ]
    title = TOPICS[topic]
    return Panel(topic, title, table(f"{title} that differ", ("of", "what", *names), rows), str(len(held)))


def _losses(before: Recorded, after: Recorded, names: tuple[str, str]) -> Html | None:
    series = []
    for colour, (run, name) in enumerate(zip((before, after), names, strict=True)):
        for line in loss_lines(run)[:1]:
            points = tuple(
                Point(step, value, f"{name}, step {step}: {number(value)}") for step, value in line.values
            )
            series.append(Series(f"{line.name}, {name}", "line", points, colour))
    if not any(len(one.points) > 1 for one in series):
        return None
    said = "; ".join(f"{one.name} ends at {number(one.points[-1].y)}" for one in series)
    return svg(
        Chart("Loss of each recorded step", said, Axis("step", whole=True), Axis("loss"), tuple(series))
    )


def _gradients(before: Recorded, after: Recorded, names: tuple[str, str]) -> Html | None:
    """The gradient norms of the parameters that both have, at the same places."""
    held = [
        {
            one.name: one.gradient.norm if one.gradient is not None else 0.0
            for one in run.facts(ParameterSeen)
            if one.trainable
        }
        for run in (before, after)
    ]
    both = [name for name in held[0] if name in held[1]]
    series = tuple(
        Series(
            name,
            "point",
            tuple(Point(n, norms[one], f"{one}, {name}: {number(norms[one])}") for n, one in enumerate(both)),
            colour,
        )
        for colour, (norms, name) in enumerate(zip(held, names, strict=True))
    )
    chart = Chart(
        "Gradient norm of each parameter",
        f"{len(both)} parameters that both runs have",
        Axis("parameter, from input to output", whole=True, ends=(0, len(both) - 1)),
        Axis("gradient norm", is_log=True),
        series,
    )
    return svg(chart) if chart.shown else None
