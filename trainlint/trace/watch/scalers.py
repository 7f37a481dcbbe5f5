"""The gradient scalers of a run."""

from __future__ import annotations

import weakref
from types import FrameType
from typing import TYPE_CHECKING, Any

import torch

from trainlint.facts.ask.precision import may_be_disabled
from trainlint.facts.model.events.modules import Built
from trainlint.facts.model.values import Constant, Object, Op, Value
from trainlint.facts.seen.scalers import ScalerSeen
from trainlint.trace.watch.graph import seen

if TYPE_CHECKING:
    from trainlint.trace.watch.recorder import Recorder


class _Life:
    """What is known of one scaler."""

    def __init__(self, scaler: Any, made: Object, scale: float) -> None:
        self.scaler = weakref.ref(scaler)
        self.object = made
        self.first = self.last = scale
        self.steps = 0
        self.skipped = 0


class Scalers:
    """Follows every scaler: how often it stepped, what it left out, and where its scale goes."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._lives: dict[int, _Life] = {}
        self.at_work: Any = None
        """The scaler whose `step` is running."""

    def made(self, scaler: Any, frame: FrameType | None, enabled: bool) -> None:
        """A scaler is made; it is `enabled` if the program asks for it, whether or not the machine can."""
        recorder = self._recorder
        made = recorder.objects.made(scaler, recorder.at(frame))
        made.options["enabled"] = Constant(value=enabled)
        recorder.emit(Built, frame, made, object=made)

    def scaled(self, scaler: Any, before: Value, result: torch.Tensor, frame: FrameType | None) -> None:
        """A scaler has scaled a loss."""
        recorder = self._recorder
        made = recorder.objects.of(scaler)
        if may_be_disabled(made):
            return
        op = Op(
            name="scale",
            inputs=(before,),
            at=recorder.at(frame),
            owner=made,
            attached=result.requires_grad,
            seen=seen(result),
            autocast=recorder.autocast.open,
        )
        recorder.graph.note(result, op)

    def stepped(self, scaler: Any, optimizer: torch.optim.Optimizer, steps_before: int) -> None:
        """A scaler's `step` is over: it has let the optimizer step, or found non-finite gradients."""
        known = self._recorder.steps.of(optimizer)
        life = self._lives.get(id(scaler))
        scale = float(scaler.get_scale())
        if life is None or life.scaler() is not scaler:
            life = self._lives[id(scaler)] = _Life(scaler, self._recorder.objects.of(scaler), scale)
        life.last = scale
        life.steps += 1
        if known.steps == steps_before:
            life.skipped += 1
            known.skipped += 1

    def seen(self) -> list[ScalerSeen]:
        found = []
        for life in self._lives.values():
            scaler = life.scaler()
            last = float(scaler.get_scale()) if scaler is not None else life.last
            found.append(ScalerSeen(life.object.at, life.first, last, life.steps, life.skipped))
        return found
