"""Factors that a run has seen take weight from some keys, and leave others theirs."""

from __future__ import annotations

from collections.abc import Iterator

from trainlint.facts.ask.attention import Masking, Way
from trainlint.facts.seen.tensors import WEIGHT_LOST

_COUNTS = 0.01
"""A smaller share of a row's weight was masked before the softmax already, or is of no use to anybody."""


def measured_masks(weights: Way) -> Iterator[Masking]:
    """What was multiplied with the weights and was a mask of zeros and ones in the run."""
    for op, factor in zip(weights.scaled, weights.factors, strict=True):
        lost = op.seen.numbers.get(WEIGHT_LOST, 0.0) if op.seen is not None else 0.0
        if op.name == "*" and lost > _COUNTS:
            yield Masking(op, "*", factor)
