"""A chart as SVG, without any script: it is there at once, prints, and needs no library."""

from __future__ import annotations

from trainlint.html_report.charts.chart import Chart, Point, Series
from trainlint.html_report.charts.scale import Scale, scale
from trainlint.html_report.markup import Html, joined, tag

_WIDTH = 760
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 14, 10, 42
_NAMED_LEFT = 150


def svg(chart: Chart) -> Html:
    """A figure with its legend. Colours come from the page's style, so that they follow light and dark."""
    shown = chart.shown
    left = _NAMED_LEFT if chart.y.names else _LEFT
    xs = [value for one in shown for point in one.points for value in _along_x(one, point)]
    ys = [value for one in shown for point in one.points for value in _along_y(one, point)]
    x = scale(chart.x, [*xs, *chart.x.ends], left, _WIDTH - _RIGHT)
    bottom = chart.height - _BOTTOM
    y = scale(chart.y, [*ys, *chart.y.ends], *((_TOP, bottom) if chart.y.names else (bottom, _TOP)))
    drawn = tag(
        "svg",
        tag("title", f"{chart.title}. {chart.description}"),
        _axes(chart, x, y, left, bottom),
        [_series(one, x, y) for one in shown],
        viewBox=f"0 0 {_WIDTH} {chart.height}",
        role="img",
        class_="chart",
    )
    legend = [
        tag("li", tag("span", class_=f"swatch {one.mark} c{one.colour}"), one.name)
        for one in shown
        if one.name
    ]
    return tag(
        "figure",
        tag("figcaption", chart.title),
        drawn,
        tag("ul", legend, class_="legend") if len(legend) > 1 else None,
    )


def _along_x(series: Series, point: Point) -> list[float]:
    if series.mark == "rule":
        return []
    return [point.x, point.end] if series.mark == "span" and point.end is not None else [point.x]


def _along_y(series: Series, point: Point) -> list[float]:
    return [point.y, point.end] if series.mark == "bar" and point.end is not None else [point.y]


def _axes(chart: Chart, x: Scale, y: Scale, left: float, bottom: float) -> Html:
    right = _WIDTH - _RIGHT
    rows = [
        joined(
            tag("line", x1=left, x2=right, y1=y.at(value), y2=y.at(value), class_="grid"),
            tag("text", _short(text), x=left - 8, y=y.at(value) + 4, class_="tick end"),
        )
        for value, text in y.ticks
    ]
    columns = [
        tag("text", text, x=x.at(value), y=bottom + 17, class_="tick middle") for value, text in x.ticks
    ]
    return joined(
        rows,
        columns,
        tag("text", chart.x.title, x=(left + right) / 2, y=chart.height - 6, class_="axis middle"),
        tag(
            "text",
            chart.y.title,
            x=14,
            y=(_TOP + bottom) / 2,
            class_="axis middle turned",
            transform=f"rotate(-90 14 {(_TOP + bottom) / 2})",
        )
        if chart.y.title
        else None,
    )


def _series(one: Series, x: Scale, y: Scale) -> Html:
    if one.mark == "line":
        way = " ".join(f"{x.at(point.x)},{y.at(point.y)}" for point in one.points)
        dots = [_dot(point, x, y) for point in one.points] if len(one.points) <= 100 else []
        return tag("g", tag("polyline", points=way), dots, class_=f"line c{one.colour}")
    draw = {"point": _dot, "cross": _cross, "bar": _bar, "span": _span, "rule": _rule}[one.mark]
    return tag("g", [draw(point, x, y) for point in one.points], class_=f"{one.mark} c{one.colour}")


def _said(point: Point) -> Html | None:
    return tag("title", point.label) if point.label else None


def _dot(point: Point, x: Scale, y: Scale) -> Html:
    return tag("circle", _said(point), cx=x.at(point.x), cy=y.at(point.y), r=3)


def _cross(point: Point, x: Scale, y: Scale) -> Html:
    here, there = x.at(point.x), y.at(point.y)
    return tag("path", _said(point), d=f"M{here - 4:.1f} {there - 4:.1f}l8 8m0 -8l-8 8")


def _bar(point: Point, x: Scale, y: Scale) -> Html:
    """From one number to another along y, one unit of x wide at most."""
    width = max(1.5, min(26.0, abs(x.at(x.low + 0.8) - x.at(x.low)) if not x.is_log else 6.0))
    ends = sorted((y.at(point.y), y.at(point.end if point.end is not None else y.low)))
    return tag(
        "rect",
        _said(point),
        x=round(x.at(point.x) - width / 2, 1),
        y=ends[0],
        width=round(width, 1),
        height=round(max(1.5, ends[1] - ends[0]), 1),
    )


def _span(point: Point, x: Scale, y: Scale) -> Html:
    """From one number to another along x, in the row of y."""
    start, end = x.at(point.x), x.at(point.end if point.end is not None else point.x)
    height = abs(y.at(y.low + 0.8) - y.at(y.low))
    return tag(
        "rect",
        _said(point),
        x=start,
        y=round(y.at(point.y) - height / 2, 1),
        width=round(max(0.6, end - start), 1),
        height=round(height, 1),
    )


def _rule(point: Point, x: Scale, y: Scale) -> Html:
    return tag("line", _said(point), x1=x.start, x2=x.end, y1=y.at(point.y), y2=y.at(point.y))


def _short(text: str) -> str:
    return text if len(text) <= 22 else f"{text[:9]}…{text[-12:]}"
