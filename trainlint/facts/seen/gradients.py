"""Gradients as an optimizer used them, and what was left of them at its next step."""

from __future__ import annotations

from dataclasses import dataclass

from trainlint.facts.model.values import Object
from trainlint.finding import Place


@dataclass(frozen=True)
class Gradient:
    """A gradient as the optimizer was about to use it, unscaled.

    Args:
        norm: Euclidean norm.
        largest: largest absolute value.
        zeros: share of elements that are exactly 0.
        non_finite: how many elements are NaN or infinite.
    """

    norm: float
    largest: float
    zeros: float
    non_finite: int


@dataclass(frozen=True)
class Remains:
    """What was left of the gradients of an optimizer's step when it stepped again.

    Args:
        cleared: whether they were cleared between the two.
        numbers: where they were not, how many were left, of how many, and their norm.
    """

    optimizer: Object
    cleared: bool
    numbers: dict[str, float | str]


@dataclass(frozen=True)
class LeftByHand:
    """Gradients that were never cleared between updates by hand, in a program without an optimizer.

    Args:
        at: the first such update.
        gradients: how many there are.
        norm: their norm before the next backward pass adds to them.
    """

    at: Place
    gradients: int
    norm: float
