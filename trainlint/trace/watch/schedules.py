"""Schedulers of learning rates, as a program makes and steps them."""

from __future__ import annotations

import weakref
from types import FrameType
from typing import TYPE_CHECKING, Any

import torch

from trainlint.facts.model.events.modules import Built
from trainlint.facts.model.events.steps import SchedulerStep

if TYPE_CHECKING:
    from trainlint.trace.watch.recorder import Recorder


class Schedules:
    """Follows every scheduler."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._made: list[weakref.ref[Any]] = []

    def made(self, scheduler: Any, frame: FrameType | None) -> None:
        recorder = self._recorder
        made = recorder.objects.made(scheduler, recorder.at(frame))
        made.args = (recorder.steps.of(scheduler.optimizer).object,)
        self._made.append(weakref.ref(scheduler))
        recorder.emit(Built, frame, made, object=made)

    def stepped(self, scheduler: Any, told: object, frame: FrameType) -> None:
        recorder = self._recorder
        made = recorder.objects.of(scheduler)
        recorder.emit(
            SchedulerStep,
            frame,
            made,
            scheduler=made,
            optimizer=recorder.steps.of(scheduler.optimizer).object,
            told=recorder.graph.value(told) if told is not None else None,
        )

    def of(self, optimizer: torch.optim.Optimizer) -> list[Any]:
        """The schedulers of an optimizer that live."""
        live = [scheduler for one in self._made if (scheduler := one()) is not None]
        return [one for one in live if one.optimizer is optimizer]
