"""How far the outputs of two calls differ, beyond rounding."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch

from trainlint.trace.measure.copies import Keep, Ran

_NOISE = {torch.float64: 1e-6, torch.float32: 1e-4}
_NOISE_OF_HALVES = 3e-2

_NOTHING = 1e-5
"""A change of less than this, beside the size of the output, is none."""


class Compared(NamedTuple):
    """The largest change of what must not change, and of the rest."""

    change: float
    scale: float
    leaked: bool


def compared(first: Ran, again: Ran, other: Ran, keep: Keep, may_change: Keep) -> Compared | None:
    """The first output that has a part which must not change, in two runs alike and one that is not."""
    for before, same, after in zip(first.outputs, again.outputs, other.outputs, strict=False):
        if not before.is_floating_point() or keep(before) is None:
            continue
        if not before.shape == same.shape == after.shape:
            return None
        noise = difference(before, same, lambda tensor: tensor)
        change, scale = difference(before, after, keep), difference(before, after, may_change)
        least_scale = _NOTHING * float(before.abs().max())
        if not (noise == noise and change == change and least_scale < scale < float("inf")):
            return None
        least = max(_NOISE.get(before.dtype, _NOISE_OF_HALVES) * scale, least_scale / 10)
        if noise > least / 10:
            return None
        return Compared(change, scale, change > least)
    return None


def difference(
    first: torch.Tensor, second: torch.Tensor, take: Callable[[torch.Tensor], torch.Tensor | None]
) -> float:
    one, other = take(first), take(second)
    if one is None or other is None or not one.numel():
        return 0.0
    return float((one.double() - other.double()).abs().max())
