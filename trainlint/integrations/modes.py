"""Where the modes of models were switched last: a recording in the middle of a training has not seen that."""

from __future__ import annotations

import sys
import weakref
from contextlib import ExitStack
from typing import Any, NamedTuple

import torch

from trainlint.facts.model.events.modules import ModeChange
from trainlint.finding import Place
from trainlint.trace.watch.objects import unwrapped
from trainlint.trace.watch.own_code import OwnCode
from trainlint.trace.watch.patches.replacing import replace
from trainlint.trace.watch.recorder import Recorder


class _Switch(NamedTuple):
    mode: bool
    at: Place
    calls: tuple[Place, ...]


class Modes:
    """Remembers the latest `train()` or `eval()` of each model, from `begin` on: of the outermost module of each call."""

    def __init__(self) -> None:
        self._own = OwnCode()
        self._latest: weakref.WeakKeyDictionary[torch.nn.Module, _Switch] = weakref.WeakKeyDictionary()
        self._depth = 0

    def begin(self, undo: ExitStack) -> None:
        replace(undo, torch.nn.Module, "train", self._switching)

    def _switching(self, original: Any) -> Any:
        def train(module: torch.nn.Module, mode: bool = True) -> Any:
            self._depth += 1
            try:
                result = original(module, mode)
            finally:
                self._depth -= 1
            frame = self._own.innermost(sys._getframe(1)) if self._depth == 0 else None
            if frame is not None:
                switch = _Switch(bool(mode), self._own.place(frame), self._own.calls(frame))
                self._latest[unwrapped(module)] = switch
            return result

        return train

    def tell(self, recorder: Recorder) -> None:
        """A recording begins: these are the modes that hold."""
        for module, (mode, at, calls) in list(self._latest.items()):
            made = recorder.models.handle(module)
            recorder.lines.add((at.path, at.line))
            recorder.log.add(
                (ModeChange, at, id(made)), ModeChange(at=at, calls=calls, module=made, training=mode)
            )
