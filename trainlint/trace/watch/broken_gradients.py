"""Gradients that a backward pass leaves with NaN or infinity, whatever a program does with them before it steps."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import torch

from trainlint.trace.measure import numbers
from trainlint.trace.watch.optimizers import parameters_of

if TYPE_CHECKING:
    from trainlint.trace.watch.steps import Steps


def note_broken(steps: Steps, optimizer: torch.optim.Optimizer, norms: Mapping[int, float]) -> None:
    """Write down which parameters of an optimizer have such a gradient now.

    Args:
        norms: of the gradients, by `id` of their parameters.
    """
    if all(map(math.isfinite, norms.values())):
        return
    for one in parameters_of(optimizer):
        if one.grad is None or math.isfinite(norms.get(id(one), 0.0)):
            continue
        values = numbers.plain(one.grad.coalesce().values() if one.grad.is_sparse else one.grad)
        known = steps.known(one)
        if values is not None and not known.broken:
            known.broken = numbers.non_finite(values)
