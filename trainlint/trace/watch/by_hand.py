"""Updates of parameters past any optimizer, and whether gradients are cleared between them."""

from __future__ import annotations

from collections.abc import Sequence
from types import FrameType
from typing import TYPE_CHECKING, Any

import torch

from trainlint.facts.model.events.parameters import ParametersRead
from trainlint.facts.model.values import Op, Value
from trainlint.facts.seen.gradients import LeftByHand
from trainlint.finding import Place
from trainlint.trace.watch.optimizers import checksums, parameter_behind

if TYPE_CHECKING:
    from trainlint.trace.watch.recorder import Recorder


class ByHand:
    """Counts these updates: all changes between two backward passes are one."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self.updates = 0
        self.at: Place | None = None
        self._has_changed = False
        self._after_backward: dict[int, float] = {}
        self._is_cleared = False
        self._left: LeftByHand | None = None

    def changed_in_place(
        self, args: Sequence[Any], inputs: tuple[Value, ...], frame: FrameType | None
    ) -> None:
        """A tensor was changed in place outside of any optimizer: an update by hand, if it is a parameter's."""
        has_trained = bool(self._recorder.steps.backwards)
        if not has_trained or not args or not isinstance(args[0], torch.Tensor) or torch.is_grad_enabled():
            target = inputs[0] if inputs else None
            if not (has_trained and isinstance(target, Op) and target.name in ("data", "detach")):
                return
        if not isinstance(inputs[0], Op):
            return
        target = parameter_behind(inputs[0])
        if target is not None:
            self._has_changed = True
            if self.at is None:
                self.at = self._recorder.at(frame)
                self._recorder.emit(ParametersRead, frame, None, target=target)

    def before_backward(self) -> None:
        """What the last update used is either cleared by now, or added to."""
        if not self._has_changed:
            return
        self._has_changed = False
        self.updates += 1
        held = {key: value for key, value in self._after_backward.items() if value}
        now = checksums(self._parameters())
        left = [value for key, value in held.items() if now.get(key) == value]
        if len(left) < len(held):
            self._is_cleared = True
        elif left and self.at is not None:
            norm = sum(value**2 for value in left) ** 0.5
            self._left = LeftByHand(self.at, len(left), norm)

    def after_backward(self) -> None:
        if self._recorder.steps.optimizers:
            return  # what is changed by hand beside an optimizer, such as an average of weights, has no gradient
        self._after_backward = checksums(self._parameters())

    def seen(self) -> list[LeftByHand]:
        """What was never cleared."""
        return [self._left] if self._left is not None and not self._is_cleared else []

    def _parameters(self) -> list[torch.Tensor]:
        return [one for root in self._recorder.models.all() for one in root.parameters()]
