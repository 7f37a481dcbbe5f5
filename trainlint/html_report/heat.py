"""How hot a number is among others, as one of nine shades."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

_SHADES = 8


@dataclass(frozen=True)
class Heat:
    """Shades between two positive numbers, on a logarithmic scale."""

    low: float
    high: float

    @classmethod
    def of(cls, values: Iterable[float | None]) -> Heat:
        """From the smallest to the largest; over at least three powers of ten, so that small differences stay pale."""
        kept = [one for one in values if one is not None and one > 0 and math.isfinite(one)]
        if not kept:
            return cls(1.0, 1.0)
        low, high = min(kept), max(kept)
        return cls(min(low, high / 1e3), high)

    def shade(self, value: float | None) -> str:
        if value is None or not math.isfinite(value):
            return ""
        if value <= 0 or self.high <= self.low:
            return "heat-0"
        part = (math.log10(value) - math.log10(self.low)) / (math.log10(self.high) - math.log10(self.low))
        return f"heat-{round(min(1.0, max(0.0, part)) * _SHADES)}"


UPDATES = Heat(1e-6, 1e-1)
"""Of updates over weights: about 1e-3 is usual, and stands in the middle."""
