"""What a chart shows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

Mark = Literal["line", "point", "cross", "bar", "span", "rule"]


@dataclass(frozen=True)
class Point:
    """One mark of a series.

    Args:
        end: for a `span`, where it ends along x; for a `bar`, its other end along y.
        label: what is told of it, when it is pointed at.
    """

    x: float
    y: float
    label: str = ""
    end: float | None = None


@dataclass(frozen=True)
class Series:
    """Points of one kind: a colour, and a line of the legend.

    Args:
        colour: 0 to 5; the same number is the same colour in all charts. 5 is the one for what is wrong.
    """

    name: str
    mark: Mark
    points: tuple[Point, ...]
    colour: int = 0


@dataclass(frozen=True)
class Axis:
    title: str
    is_log: bool = False
    whole: bool = False
    """Whether only whole numbers stand on it."""
    names: tuple[str, ...] = ()
    """What stands at 0, 1, 2 ... in the place of numbers."""
    ends: tuple[float, ...] = ()
    """Numbers that it reaches, whatever the points are."""


@dataclass(frozen=True)
class Chart:
    """Series over common axes.

    Args:
        title: what it shows, also for screen readers.
        description: what is to be seen in it, in a sentence, for those who do not see it.
    """

    title: str
    description: str
    x: Axis
    y: Axis
    series: tuple[Series, ...]
    height: int = 220

    @property
    def shown(self) -> tuple[Series, ...]:
        """The series without what has no place on the axes: NaN, infinities, and on a logarithmic axis what is not positive."""
        kept = (
            Series(one.name, one.mark, tuple(filter(self._fits, one.points)), one.colour)
            for one in self.series
        )
        return tuple(one for one in kept if one.points)

    def _fits(self, point: Point) -> bool:
        numbers = [point.x, point.y, *([] if point.end is None else [point.end])]
        return all(map(math.isfinite, numbers)) and not (
            (self.x.is_log and point.x <= 0) or (self.y.is_log and point.y <= 0)
        )
