"""The way from each module that gets no gradient to the output, and what cuts it."""

from __future__ import annotations

from collections.abc import Sequence

from trainlint.facts.ask.pictures import cut_on, way_out
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.seen.parameters import ParameterSeen
from trainlint.facts.seen.pictures import GraphNode, Picture
from trainlint.html_report.markup import Html, joined, tag
from trainlint.html_report.panel import Panel
from trainlint.output.words import count

_BEFORE, _AFTER = 3, 4
"""Stations of a way that are shown at its ends; those around a cut are shown too."""
_MOST = 40

Way = tuple[GraphNode, ...]


def lost_panel(run: Recorded) -> Panel | None:
    held = [one for one in run.facts(ParameterSeen) if one.trainable and one.expected]
    lost = dict.fromkeys(one.module for one in held if one.gradient is None and one.order is not None)
    pictures = run.facts(Picture)
    by_cut: dict[str, list[tuple[str, Way]]] = {}
    for module in lost:
        way = next((way for picture in pictures if (way := way_out(picture, module))), None)
        if way is not None:
            cut = cut_on(way)
            by_cut.setdefault(cut.name if cut is not None else "", []).append((module, way))
    if not by_cut:
        return None
    body = joined(*(_cut(ways) for ways in by_cut.values()))
    return Panel(
        "lost",
        "Where gradients are lost",
        body,
        count(sum(map(len, by_cut.values())), "module"),
        alarming=True,
    )


def _cut(ways: Sequence[tuple[str, Way]]) -> Html:
    """The modules behind one cut, the one furthest from it with its whole way."""
    furthest = max(ways, key=lambda one: len(one[1]))
    cut = cut_on(furthest[1])
    said = (
        joined(tag("b", cut.operation), f" cuts {count(len(ways), 'module')} off from the loss:")
        if cut is not None
        else joined(f"{count(len(ways), 'module')} without a gradient, and no cut is seen on the way:")
    )
    stations = [
        tag("li", one.module or one.operation, class_="cut" if one is cut else None)
        for one in _shown(furthest[1], cut)
    ]
    others = [module for module, _ in ways if module != furthest[0]]
    return joined(
        tag("p", said),
        tag("ol", stations, class_="way"),
        tag("p", "The same way takes ", _listed(others), ".", class_="dim") if others else None,
    )


def _shown(way: Way, cut: GraphNode | None) -> list[GraphNode]:
    """The stations of a way: each module once, those at its ends and around the cut; others are left out."""
    names: list[GraphNode] = []
    for one in way:
        same = bool(names) and one.module and one.module == names[-1].module and one is not cut
        if one.operation != "output" and not same:
            names.append(one)
    if len(names) <= _BEFORE + _AFTER + 4:
        return names
    middle = names.index(cut) if cut in names else 0
    keep = {*range(_BEFORE), *range(middle - 2, middle + 3), *range(len(names) - _AFTER, len(names))}
    left_out = GraphNode("", "…", "")
    found: list[GraphNode] = []
    for number, one in enumerate(names):
        if number in keep:
            found.append(one)
        elif found[-1] is not left_out:
            found.append(left_out)
    return found


def _listed(names: Sequence[str]) -> Html:
    shown = [joined(", " if number else "", tag("code", one)) for number, one in enumerate(names[:_MOST])]
    more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
    return joined(*shown, more)
