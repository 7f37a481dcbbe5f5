"""A step of an optimizer while it is under way: written down when it has used the gradients, before what hooks do behind it."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from types import FrameType
from typing import TYPE_CHECKING

import torch

from trainlint.facts.model.events.steps import OptimizerStep
from trainlint.facts.model.values import new_uid
from trainlint.trace.measure import numbers
from trainlint.trace.watch.optimizers import Optimizer

if TYPE_CHECKING:
    from trainlint.trace.watch.recorder import Recorder

_AROUND_STEPS = sys.modules[torch.optim.Optimizer.__module__].__file__
"""Where torch calls `step` and the hooks around it."""


class StepUnderWay:
    """The step that is under way, and whether it is written down."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self.is_noted = False
        self.last_value = 0
        """The number of a value: those that were there when the latest step was over have smaller ones."""

    def begins(self) -> None:
        self.is_noted = False

    def note(self, known: Optimizer, frame: FrameType | None) -> None:
        """The optimizer has stepped."""
        self.is_noted = True
        recorder = self._recorder
        self.last_value = new_uid()
        recorder.clipping.begin_again()
        scaler = recorder.scalers.at_work
        event = recorder.emit(
            OptimizerStep,
            frame,
            known.object,
            optimizer=known.object,
            scaler=recorder.objects.of(scaler) if scaler is not None else None,
        )
        if event is not None and known.step_at is None:
            known.step_at = event.at

    def settle(
        self,
        known: Optimizer,
        parameters: Sequence[torch.Tensor],
        before: Mapping[int, tuple[torch.Tensor, float]],
    ) -> None:
        """Write the step down now if it has moved one of these parameters.

        Args:
            before: elements of each as they were before the step.
        """
        held = ((one, before.get(id(one))) for one in parameters)
        if not any(kept is not None and _has_moved(one, kept[0]) for one, kept in held):
            return
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename != _AROUND_STEPS:
            frame = frame.f_back
        self.note(known, self._recorder.own.innermost(frame))


def _has_moved(parameter: torch.Tensor, before: torch.Tensor) -> bool:
    now = numbers.sample(parameter)
    return now is not None and not torch.equal(now, before)
