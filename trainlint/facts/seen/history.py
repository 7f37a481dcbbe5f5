"""The recorded steps of a long run, of which most steps are not recorded."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Milestone:
    """One recorded step, in numbers that can be compared with those of others.

    Args:
        step: how many optimizer steps the run had taken with this one.
        loss: what `backward()` was called on last; None where that is no single number.
        gradient: norm of all gradients together.
        non_finite: elements of gradients that are NaN or infinite.
        weight: largest absolute value of a weight before the step.
        rate: the highest learning rate.
        largest: the parameter with the gradient of the largest norm, or the first that is not finite.
    """

    step: int
    loss: float | None
    gradient: float | None
    non_finite: int
    weight: float | None
    rate: float | None
    largest: str = ""


HEADS = (
    "step",
    "loss",
    "gradient norm",
    "not finite",
    "largest weight",
    "learning rate",
    "largest gradient in",
)
"""The columns of a table of recorded steps."""


def began_between(held: Sequence[Milestone]) -> str:
    """Between which recorded steps a loss or a gradient stopped being finite; empty where all are finite."""
    first = next((one for one in held if one.non_finite or not math.isfinite(one.loss or 0.0)), None)
    if first is None:
        return ""
    before = [one.step for one in held if one.step < first.step]
    where = f"after step {before[-1]}, and by step {first.step}" if before else f"by step {first.step}"
    return f"NaN or infinity began {where}"
