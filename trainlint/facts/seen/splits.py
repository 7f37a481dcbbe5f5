"""The parts that a program has split its samples into."""

from __future__ import annotations

from dataclasses import dataclass

from trainlint.finding import Place


@dataclass(frozen=True)
class ScaledTogether:
    """Features that were scaled with the statistics of all samples, of which only a part is trained on.

    Args:
        at: where a model is called with the part that is trained on.
        trained: samples of that part.
        held: samples of the other parts.
        features: how many were looked at.
        mean: the largest mean of a feature over all parts together, without its sign.
        mean_of_trained: the same over the part that is trained on.
    """

    at: Place
    trained: int
    held: int
    features: int
    mean: float
    mean_of_trained: float
