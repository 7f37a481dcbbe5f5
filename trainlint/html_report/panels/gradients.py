"""Gradients and updates of each parameter, from input to output."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

from trainlint.facts.model.recorded import Recorded
from trainlint.facts.seen.parameters import ParameterSeen
from trainlint.html_report.charts.chart import Axis, Chart, Point, Series
from trainlint.html_report.charts.svg import svg
from trainlint.html_report.heat import UPDATES, Heat
from trainlint.html_report.markup import Content, Html, joined, tag
from trainlint.html_report.panel import Cell, Panel, table
from trainlint.html_report.tree import moves
from trainlint.output.in_order import in_order
from trainlint.output.words import number, shape, share

_MOST_POINTS = 400
"""Parameters that are drawn one by one; of more, neighbours are drawn together."""
_MOST_ROWS = 150
"""Rows of the table that are there at once."""
_ALIKE = 3
_USUAL = 1e-3


def gradients_panel(run: Recorded) -> Panel | None:
    held = [one for one in run.facts(ParameterSeen) if one.trainable]
    ordered = in_order(held)
    judged = [one for one in ordered if one.gradient is not None or one.expected]
    if not judged:
        return None
    missing = [one for one in judged if one.gradient is None]
    broken = [one for one in judged if one.gradient is not None and one.gradient.non_finite]
    body = joined(
        svg(_norms(judged)),
        svg(_updates(judged)) if any(map(_is_drawn, judged)) else None,
        tag("p", "Gradients and updates are those of the first step of each optimizer.", class_="dim"),
        _tables(judged),
    )
    note = (
        f"{len(broken)} not finite"
        if broken
        else f"{len(missing)} of {len(judged)} missing"
        if missing
        else f"{len(judged)} of {len(judged)} there"
    )
    return Panel("gradients", "Gradients", body, note, alarming=bool(missing or broken))


def _is_drawn(one: ParameterSeen) -> bool:
    return moves(one) and one.update is not None and 0 < one.update < math.inf


def _norms(held: Sequence[ParameterSeen]) -> Chart:
    there = [(n, one) for n, one in enumerate(held) if one.gradient is not None]
    sound = [
        (n, one.gradient.norm, one) for n, one in there if one.gradient is not None and one.gradient.norm > 0
    ]
    finite = [norm for _, norm, _ in sound if math.isfinite(norm)]
    floor = min(finite, default=1.0)
    lost = tuple(
        Point(n, floor, f"{one.name}: {'no gradient' if one.gradient is None else 'not finite or all zero'}")
        for n, one in enumerate(held)
        if one.gradient is None or not one.gradient.norm > 0 or not math.isfinite(one.gradient.norm)
    )
    weights = [(n, norm, one.name) for n, norm, one in sound if len(one.shape) > 1]
    others = [(n, norm, one.name) for n, norm, one in sound if len(one.shape) < 2]
    return Chart(
        "Gradient norm, from input to output",
        f"Between {number(floor)} and {number(max(finite, default=1.0))}; {len(lost)} without a gradient to show",
        Axis("parameter, from input to output", whole=True, ends=(0, len(held) - 1)),
        Axis("gradient norm", is_log=True),
        (
            _drawn("weights", weights, 0),
            _drawn("biases and scales", others, 1),
            Series("no gradient, zero, or not finite", "cross", lost, 5),
        ),
    )


def _updates(held: Sequence[ParameterSeen]) -> Chart:
    moved = [(n, one.update, one.name) for n, one in enumerate(held) if moves(one) and one.update is not None]
    values = [value for _, value, _ in moved if value > 0]
    return Chart(
        "Update of each weight in one step, over the norm of the weight",
        f"Between {number(min(values, default=0.0))} and {number(max(values, default=0.0))}; about 0.001 is usual",
        Axis("parameter, from input to output", whole=True, ends=(0, len(held) - 1)),
        Axis("update/weight", is_log=True),
        (_drawn("weights", moved, 0), Series("about 0.001 is usual", "rule", (Point(0, _USUAL),), 2)),
        height=180,
    )


def _drawn(name: str, found: Sequence[tuple[int, float, str]], colour: int) -> Series:
    """Each by itself, or in bars from the smallest to the largest of those that stand next to each other."""
    kept = [one for one in found if one[1] > 0 and math.isfinite(one[1])]
    if len(kept) <= _MOST_POINTS:
        return Series(
            name,
            "point",
            tuple(Point(n, value, f"{label}: {number(value)}") for n, value, label in kept),
            colour,
        )
    size = math.ceil(len(kept) / _MOST_POINTS)
    points = []
    for start in range(0, len(kept), size):
        near = kept[start : start + size]
        low, high = min(value for _, value, _ in near), max(value for _, value, _ in near)
        label = f"{near[0][2]} to {near[-1][2]}: {number(low)} to {number(high)}"
        points.append(Point(near[0][0], low, label, high))
    return Series(name, "bar", tuple(points), colour)


_HEADS = ("parameter", "shape", "gradient norm", "largest", "zero", "update/weight", "learning rate")


def _tables(held: Sequence[ParameterSeen]) -> Html:
    """Each parameter; of too many, those that stand out first, and all of them where one asks."""
    rows = list(_rows(held))
    if len(rows) <= _MOST_ROWS:
        return table("Each parameter", _HEADS, (row for row, _ in rows))
    odd = [row for row, stands_out in rows if stands_out]
    return joined(
        table("Parameters that stand out", _HEADS, odd[:_MOST_ROWS]) if odd else None,
        tag(
            "details",
            tag("summary", f"All {len(held):,} parameters"),
            table("Each parameter", _HEADS, (row for row, _ in rows)),
        ),
    )


def _rows(held: Sequence[ParameterSeen]) -> Iterator[tuple[Sequence[Cell | Content], bool]]:
    """A row for each parameter, and whether it stands out; those of equal blocks share one, with the smallest and the
    largest number."""
    heat = Heat.of(one.gradient.norm for one in held if one.gradient is not None)
    groups: dict[object, list[ParameterSeen]] = {}
    for one in held:
        groups.setdefault(_alike(one), []).append(one)
    for one in held:
        group = groups[_alike(one)]
        if len(group) < _ALIKE:
            yield _row(one.name, [one], heat), _stands_out(one)
        elif one is group[0]:
            yield _row(f"{_pattern(one)} \u00d7 {len(group)}", group, heat), _stands_out(one)


def _pattern(one: ParameterSeen) -> str:
    """Its name without the numbers of blocks: `layers.*.weight`."""
    return re.sub(r"(?<![^.])\d+(?![^.])", "*", one.name)


def _alike(one: ParameterSeen) -> object:
    return one.model, _pattern(one), one.shape, one.gradient is None, _stands_out(one)


def _stands_out(one: ParameterSeen) -> bool:
    return one.gradient is None or one.gradient.non_finite > 0 or one.gradient.zeros == 1.0


def _row(name: str, group: Sequence[ParameterSeen], heat: Heat) -> Sequence[Cell | Content]:
    gradients = [one.gradient for one in group if one.gradient is not None]
    updates = [one.update for one in group if one.update is not None and one.gradient is not None]
    zero = max((one.zeros for one in gradients), default=0.0)
    dead = bool(gradients) and min(one.zeros for one in gradients) == 1.0
    bad = any(one.non_finite for one in gradients)
    return (
        tag("code", name),
        Cell(shape(group[0].shape), kind="dim shape"),
        _numbers(
            [one.norm for one in gradients],
            "bad" if bad else heat.shade(max(one.norm for one in gradients)),
        )
        if gradients
        else Cell("none", numeric=True, kind="bad"),
        _numbers([one.largest for one in gradients]),
        Cell(share(zero) if zero else "", numeric=True, kind="bad" if dead else ""),
        _numbers(updates, UPDATES.shade(max(updates)))
        if updates
        else Cell(_why(group[0]), kind="dim", numeric=True),
        _numbers([one.rate for one in group if one.rate is not None]),
    )


def _why(one: ParameterSeen) -> str:
    """Why there is no ratio of update and weight."""
    if not one.optimizers:
        return "in no optimizer"
    zero = one.start is not None and one.start.smallest == one.start.largest == 0
    return "starts at zero" if zero and one.gradient is not None else ""


def _numbers(values: Sequence[float], kind: str = "") -> Cell:
    if not values:
        return Cell("", numeric=True)
    broken = [one for one in values if not math.isfinite(one)]
    if broken:
        return Cell(number(broken[0]), numeric=True, kind="bad")
    low, high = number(min(values)), number(max(values))
    return Cell(low if low == high else f"{low} \u2013 {high}", numeric=True, kind=kind)
