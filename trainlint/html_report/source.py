"""The source of a finding's places: one excerpt for places that are near each other, with what is said of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from trainlint.finding import Finding, Place
from trainlint.html_report.markup import Html, joined, tag
from trainlint.output.words import place
from trainlint.project.source_texts import Lines

_AROUND = 2
"""Lines of source that are shown before and after a place."""
_LONGEST = 200
"""Characters of a line of source that are shown."""
_MOST_LINES = 6
"""Lines of one place that are shown."""


@dataclass(frozen=True)
class _Marked:
    at: Place
    said: str
    level: str

    @property
    def last(self) -> int:
        return min(self.at.end_line, self.at.line + _MOST_LINES - 1)


def excerpts(finding: Finding, lines: Lines) -> Iterator[Html]:
    """The places of a finding, its own first, each with its source."""
    marked = [_Marked(finding.at, "", finding.level or "error")]
    marked += [_Marked(one.at, one.message, "related") for one in finding.because]
    for near in _grouped(marked):
        where = tag("figcaption", tag("span", place(near[0].at), class_="place"))
        source = lines(near[0].at)
        shown = joined(_rows(near, source)) if source else None
        said = [tag("p", f"{place(one.at)} {one.said}") for one in near if one.said] if not shown else None
        yield tag(
            "figure", where, tag("pre", tag("code", shown), tabindex=0) if shown else said, class_="source"
        )


def _grouped(marked: Sequence[_Marked]) -> list[list[_Marked]]:
    """Places whose excerpts touch, together."""
    groups: list[list[_Marked]] = []
    for one in marked:
        near = [group for group in groups if any(_touch(one, other) for other in group)]
        whole = [*(other for group in near for other in group), one]
        position = groups.index(near[0]) if near else len(groups)
        groups = [group for group in groups if group not in near]
        groups.insert(position, whole)
    return groups


def _touch(one: _Marked, other: _Marked) -> bool:
    same = one.at.path == other.at.path and one.at.cell == other.at.cell
    return (
        same and one.at.line <= other.last + 2 * _AROUND + 1 and other.at.line <= one.last + 2 * _AROUND + 1
    )


def _rows(near: Sequence[_Marked], source: Sequence[str]) -> Iterator[Html]:
    first = max(1, min(one.at.line for one in near) - _AROUND)
    last = min(max(one.last for one in near) + _AROUND, len(source))
    for line in range(first, last + 1):
        text = source[line - 1].rstrip()
        here = [one for one in near if one.at.line <= line <= one.last]
        yield joined(tag("span", f"{line:>5}  ", class_="gutter"), _marks(text, line, here), Html("\n"))
        for one in here:
            if one.said and line == one.last:
                indent = " " * (len(text) - len(text.lstrip()))
                yield joined(tag("span", f"{'':>5}  {indent}↑ {one.said}", class_="said"), Html("\n"))


def _marks(text: str, line: int, here: Sequence[_Marked]) -> Html:
    """A line with the places that stand in it; of two that overlap, the one that begins first."""
    pieces: list[str] = []
    done = 0
    for one in sorted(here, key=lambda one: one.at.column if one.at.line == line else 0):
        start = one.at.column - 1 if one.at.line == line else len(text) - len(text.lstrip())
        end = one.at.end_column - 1 if one.at.end_line == line else len(text)
        start, end = max(start, done), end if end > start else len(text)
        if start >= end:
            continue
        pieces += [joined(_cut(text[done:start])), tag("mark", _cut(text[start:end]), class_=one.level)]
        done = end
    return joined(*pieces, _cut(text[done:]))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
