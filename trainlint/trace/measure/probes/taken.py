"""A step that a copy takes from a fixed seed, and how far two copies are apart afterwards."""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence

import torch

from trainlint.trace.measure.replay import Replay

SAME = 1e-5
"""Difference of weights after a step, beside how far that step moves them, that is rounding."""


def stepped(one: Replay) -> float:
    """Take a step with the optimizer's copy; gives the loss before it."""
    assert one.optimizer is not None
    seed()
    return one.step(one.optimizer)


def seed() -> None:
    """Fix all random numbers that have a global generator."""
    torch.manual_seed(0)
    random.seed(0)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(0)


def far(first: Sequence[torch.Tensor], second: Sequence[torch.Tensor]) -> float:
    """The largest difference of two weights."""
    pairs = zip(first, second, strict=True)
    return max(
        (float((one - other).detach().abs().max()) for one, other in pairs if one.numel()), default=0.0
    )
