"""Where a number stands on an axis, and which numbers are written beside it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from trainlint.html_report.charts.chart import Axis
from trainlint.output.words import number

_TICKS = 6


@dataclass(frozen=True)
class Scale:
    """From numbers between `low` and `high` to pixels between `start` and `end`."""

    low: float
    high: float
    start: float
    end: float
    is_log: bool
    ticks: tuple[tuple[float, str], ...]

    def at(self, value: float) -> float:
        low, high, here = self.low, self.high, value
        if self.is_log:
            low, high, here = math.log10(low), math.log10(high), math.log10(max(value, self.low))
        part = (here - low) / (high - low) if high > low else 0.5
        return round(self.start + min(1.0, max(0.0, part)) * (self.end - self.start), 1)


def scale(axis: Axis, values: Sequence[float], start: float, end: float) -> Scale:
    """An axis that all the values fit on, with room at its ends."""
    if axis.names:
        ticks = tuple((float(n), name) for n, name in enumerate(axis.names))
        return Scale(-0.5, len(axis.names) - 0.5, start, end, False, ticks)
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    if axis.is_log:
        return _logarithmic(low, high, start, end)
    if low == high:
        room = abs(low) * 0.1 or 0.5
        low, high = low - room, high + room
    step = _round_step((high - low) / _TICKS)
    if axis.whole:
        step = max(1.0, math.ceil(step))
        low, high = low - 0.5, high + 0.5
        first = math.ceil(low / step) * step
    else:
        low, high = math.floor(low / step) * step, math.ceil(high / step) * step
        first = low
    found: list[tuple[float, str]] = []
    while first <= high + step * 1e-6:
        found.append((first, _written(first, step)))
        first += step
    return Scale(low, high, start, end, False, tuple(found))


def _logarithmic(low: float, high: float, start: float, end: float) -> Scale:
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    if first == last:
        last += 1
    every = max(1, math.ceil((last - first) / _TICKS))
    ticks = tuple(
        (10.0**power, f"1e{power}" if abs(power) > 2 else number(10.0**power))
        for power in range(first, last + 1, every)
    )
    return Scale(10.0**first, 10.0**last, start, end, True, ticks)


def _written(value: float, step: float) -> str:
    """With as many digits as it takes to tell it from the next."""
    if abs(value) >= 1e5 or 0 < step < 1e-4:
        return number(0.0 if abs(value) < step * 1e-6 else value)
    shown = f"{value:.{max(0, -math.floor(math.log10(step) + 1e-9))}f}"
    return shown.lstrip("-") if float(shown) == 0 else shown


def _round_step(wanted: float) -> float:
    """1, 2 or 5 times a power of ten, at least what is wanted."""
    power = 10.0 ** math.floor(math.log10(wanted))
    return next(power * one for one in (1, 2, 5, 10) if power * one >= wanted * 0.999999)
