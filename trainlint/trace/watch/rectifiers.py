"""Rectifiers, and the units that they leave dead."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from trainlint.facts.model.values import Op
from trainlint.facts.seen.rectifiers import Rectified

if TYPE_CHECKING:
    from trainlint.trace.watch.recorder import Recorder


def note_rectified(recorder: Recorder, op: Op, result: torch.Tensor) -> None:
    """A rectifier was called as a function: it counts in a model that is trained."""
    model = recorder.modules.outermost
    if op.at is None or not recorder.modules.is_training_forward:
        return
    if model is None or not recorder.models.is_one(model):
        return
    given = op.inputs[0] if op.inputs else None
    layer = given.owner.uid if isinstance(given, Op) and given.owner is not None else None
    if recorder.wants(Rectified, (op.at, layer)):
        with recorder.aside():
            dead = dead_units(result)
        if dead is not None:
            found = Rectified(op.at, recorder.modules.path(), layer, tuple(result.shape), dead)
            recorder.fact(found, (op.at, layer))


def dead_units(output: torch.Tensor) -> float | None:
    """The share of features that are 0 for every sample and position; None where there is one sample."""
    if output.dim() < 2 or output.shape[0] < 2 or output.numel() == 0:
        return None
    axis = 1 if output.dim() == 4 else -1
    others = [n for n in range(output.dim()) if n != axis % output.dim()]
    largest = output.detach().amax(dim=others)
    return float((largest <= 0).sum()) / largest.numel()
