"""The gradient scalers of a run."""

from __future__ import annotations

from dataclasses import dataclass

from trainlint.finding import Place


@dataclass(frozen=True)
class ScalerSeen:
    """A gradient scaler over the recorded steps.

    Args:
        first: scale before the first step.
        last: scale after the last.
        skipped: steps that were left out because of non-finite gradients.
    """

    at: Place | None
    first: float
    last: float
    steps: int
    skipped: int
