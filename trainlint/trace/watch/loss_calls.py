"""Calls of losses: by a loss of torch's, or by the program's own code that takes the log-softmax."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import FrameType
from typing import TYPE_CHECKING, Any

import torch

from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.values import Object, Op, Value
from trainlint.facts.seen.losses import LossSeen
from trainlint.finding import Place
from trainlint.trace.measure.guessing import guessing
from trainlint.trace.watch import losses
from trainlint.trace.watch.given import note_given
from trainlint.trace.watch.graph import seen

if TYPE_CHECKING:
    from trainlint.trace.watch.recorder import Recorder


_MOST = 10_000
"""Losses that are kept."""


def _name(function: str, op: Op) -> str:
    owner = op.owner
    return owner.type.removeprefix("torch.") if isinstance(owner, Object) else f"F.{function}"


class LossCalls:
    """Writes down the losses that are computed, and what they were given."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self.seen: list[LossSeen] = []
        """The losses of all steps."""

    def computed(
        self,
        function: str,
        op: Op,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        result: torch.Tensor,
        frame: FrameType | None,
    ) -> None:
        """A loss of torch's gave a result."""
        recorder = self._recorder
        op.seen = losses.measured(function, args, kwargs, result)
        self._called(function, op, args, frame)
        value = op.seen.numbers.get("value")
        if op.at is not None and value is not None:
            with recorder.aside():
                guessed = guessing(function, args, kwargs)
            self._note(LossSeen(op.at, _name(function, op), recorder.steps.done, value, *(guessed or ())))
        recorder.batch.of_loss(function, args, kwargs)
        recorder.shifts.loss_computed(args, kwargs, op.at)
        given = list(args[:2]) + [kwargs[key] for key in ("input", "target") if key in kwargs]
        if op.at is not None and len(given) > 1 and isinstance(given[1], torch.Tensor):
            note_given(recorder, given[1], op.at, "target", "1", f"F.{function}")

    def run_back(self, value: Value, at: Place | None) -> None:
        """Gradients are about to be computed for a loss."""
        number = value.seen.numbers.get("value") if isinstance(value, Op) and value.seen is not None else None
        if at is not None and number is not None:
            self._note(LossSeen(at, "backward()", self._recorder.steps.done, number))

    def _note(self, loss: LossSeen) -> None:
        if len(self.seen) < _MOST:
            self.seen.append(loss)

    def raised(
        self, function: str, args: Sequence[Any], kwargs: Mapping[str, Any], frame: FrameType | None
    ) -> None:
        """A loss that raised has no result, but what it was given is known."""
        recorder = self._recorder
        op = Op(
            name=function,
            inputs=tuple(recorder.graph.value(one) for one in args),
            options=recorder.graph.options(kwargs),
            at=recorder.at(frame),
            owner=recorder.modules.layer(),
        )
        self._called(function, op, args, frame)

    def of_log_softmax(self, op: Op, args: Sequence[Any], frame: FrameType | None) -> None:
        """A log-softmax makes the program's own module or function a loss, or the end of a model."""
        if frame is None:
            return
        if op.inputs and isinstance(args[0], torch.Tensor) and isinstance(op.inputs[0], Op):
            op.inputs[0].seen = losses.of_input("log_softmax", args[0])
        module = self._recorder.modules.own_module()
        self._recorder.emit(
            LossCall,
            frame,
            name=module.type if module is not None else frame.f_code.co_name,
            function="log_softmax",
            output=op,
            built=module.at if module is not None else None,
        )

    def _called(self, function: str, op: Op, args: Sequence[Any], frame: FrameType | None) -> None:
        for value, tensor in zip(op.inputs[:2], args[:2], strict=False):
            if isinstance(value, Op) and isinstance(tensor, torch.Tensor):
                before = value.seen or seen(tensor)
                value.seen = losses.of_input(function, tensor)
                value.seen.numbers.update(before.numbers)
                value.seen = replace(value.seen, node=before.node)
        self._recorder.emit(
            LossCall,
            frame,
            name=_name(function, op),
            function=function,
            output=op,
            built=op.owner.at if op.owner is not None else None,
        )
