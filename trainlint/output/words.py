"""Numbers, shapes and times as people read them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from trainlint.finding import Place


def number(value: float | None) -> str:
    """Three digits: `0.00123`, `1.2e-05`, `NaN`; a dash for none."""
    if value is None:
        return "-"
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if float(value).is_integer() and abs(value) < 1e6:
        return f"{value:.0f}"
    return f"{value:.3g}"


def share(value: float | None) -> str:
    """A share as a percentage. What is not quite none or all is not shown as such."""
    if value is None:
        return "-"
    if 0 < value < 0.005:
        return "<1%"
    return ">99%" if 0.995 <= value < 1 else f"{value:.0%}"


def shape(sizes: Sequence[int] | None) -> str:
    return "" if sizes is None else f"[{', '.join(map(str, sizes))}]"


def count(value: int, noun: str, plural: str = "") -> str:
    return f"{value:,} {noun if value == 1 else plural or f'{noun}s'}"


def seconds(value: float | None) -> str:
    if value is None:
        return "-"
    for unit, factor in (("s", 1.0), ("ms", 1e3)):
        if value * factor >= 1:
            return f"{value * factor:.3g} {unit}"
    return f"{value * 1e6:.3g} µs"


def memory(value: int | None) -> str:
    if value is None:
        return "-"
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if value >= factor:
            return f"{value / factor:.3g} {unit}"
    return f"{value} bytes"


def place(at: Place | None) -> str:
    """File and line, or cell and line."""
    if at is None:
        return ""
    cell = f":cell {at.cell.number}" if at.cell is not None else ""
    return f"{at.path}{cell}:{at.line}"


def joined_words(parts: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    *most, last = parts
    return f"{', '.join(most)} and {last}" if most else last
