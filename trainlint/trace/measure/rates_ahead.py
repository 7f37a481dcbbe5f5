"""What a schedule will make of the learning rate."""

from __future__ import annotations

from typing import Any

from torch.optim.lr_scheduler import LambdaLR

_AHEAD = 3
"""A warm-up from 0 is above it after one step."""


def stays_at_0(scheduler: Any) -> bool:
    """Whether the functions of a `LambdaLR` give 0 for its last step and for each of the next: the program's own functions, which
    may do anything, and raise."""
    if not isinstance(scheduler, LambdaLR):
        return False
    steps = range(scheduler.last_epoch, scheduler.last_epoch + 1 + _AHEAD)
    try:
        return all(function(step) == 0 for function in scheduler.lr_lambdas for step in steps)
    except Exception:
        return False
