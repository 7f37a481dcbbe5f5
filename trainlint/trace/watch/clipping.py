"""Gradients that are clipped: by a function of torch's, or by hand, as `parameter.grad.clamp_(…)` does."""

from __future__ import annotations

from types import FrameType
from typing import TYPE_CHECKING

import torch

from trainlint.facts.model.events.steps import Clip
from trainlint.facts.model.values import Items, Object
from trainlint.finding import Place
from trainlint.trace.watch.optimizers import Optimizer, parameters_of

if TYPE_CHECKING:
    from trainlint.trace.watch.recorder import Recorder

CLAMPS = frozenset(("clamp", "clip"))
"""What clips by hand, in place."""


class Clipping:
    """Writes down what is clipped."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._by_hand: set[Place] = set()
        """Where something was clamped in place since the last backward or step: the first of all parameters tells."""

    def clipped(self, parameters: list[torch.Tensor]) -> None:
        """A function of torch's is about to clip gradients."""
        recorder = self._recorder
        recorder.steps.settle(parameters)
        held = Items(items=[recorder.graph.value(one) for one in parameters])
        recorder.emit(Clip, recorder.frame(), None, parameters=held, optimizer=self._holder(parameters))

    def clamped(self, tensor: torch.Tensor, frame: FrameType | None) -> None:
        """A tensor was clamped in place: it may be the gradient of a parameter."""
        recorder = self._recorder
        place = recorder.at(frame)
        if place is None or place in self._by_hand or tensor.requires_grad:
            return
        self._by_hand.add(place)
        found = self._stepped_with(tensor.data_ptr())
        if found is not None:
            known, optimizer = found
            held = Items(items=[recorder.graph.value(one) for one in parameters_of(optimizer)])
            recorder.emit(Clip, frame, None, parameters=held, optimizer=known.object)

    def begin_again(self) -> None:
        """Gradients were computed or used: what is clamped now are other ones."""
        self._by_hand.clear()

    def _stepped_with(self, address: int) -> tuple[Optimizer, torch.optim.Optimizer] | None:
        """The optimizer that uses a gradient, by where that is in memory."""
        for known, optimizer in self._recorder.steps.working():
            for one in parameters_of(optimizer):
                if one.grad is not None and not one.grad.is_sparse and one.grad.data_ptr() == address:
                    return known, optimizer
        return None

    def _holder(self, tensors: list[torch.Tensor]) -> Object | None:
        """The optimizer that holds all of these parameters, if it is one."""
        wanted = set(map(id, tensors))
        found = [
            known.object
            for known, optimizer in self._recorder.steps.working()
            if wanted <= set(map(id, parameters_of(optimizer)))
        ]
        return found[0] if wanted and len(found) == 1 else None
