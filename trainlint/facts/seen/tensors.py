"""A tensor in a few numbers."""

from __future__ import annotations

from dataclasses import dataclass

Shape = tuple[int, ...]

WEIGHT_LOST = "weight lost"
"""What is measured of weights that a mask was multiplied with: the most that a row lost of its sum of 1."""


@dataclass(frozen=True)
class Spread:
    """The elements of a tensor in five numbers; `non_finite` counts NaN and infinities."""

    mean: float
    std: float
    smallest: float
    largest: float
    non_finite: int = 0
