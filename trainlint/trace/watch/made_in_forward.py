"""Modules that are made in the forward of another."""

from __future__ import annotations

import weakref
from types import FrameType
from typing import TYPE_CHECKING

import torch

from trainlint.facts.model.events.modules import Built
from trainlint.facts.model.values import Object

if TYPE_CHECKING:
    from trainlint.trace.watch.recorder import Recorder


class MadeInForward:
    """Waits for the first call of each: only then is it known what it is."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._uncalled: dict[int, tuple[weakref.ref[torch.nn.Module], Object]] = {}
        """Those that were not called yet, with the module whose forward it was."""

    def made(self, module: torch.nn.Module, frame: FrameType | None) -> None:
        """A module comes into being: in a forward, unless it is only a part of another that does."""
        holder = self._recorder.modules.own_module()
        if holder is not None and frame is not None and frame.f_code.co_name != "__init__":
            self._uncalled[id(module)] = (weakref.ref(module), holder)

    def called(self, module: torch.nn.Module, frame: FrameType | None) -> None:
        """A module is about to be called."""
        known = self._uncalled.pop(id(module), None)
        if known is None or known[0]() is not module:
            return
        is_trained = any(one.requires_grad for one in module.parameters())
        if not is_trained and not isinstance(module, torch.nn.modules.dropout._DropoutNd):
            return
        recorder = self._recorder
        made = recorder.objects.of(module)
        if made.definition is not None:
            recorder.objects.describe(module)
        built = recorder.emit(Built, frame, made, object=made, within=known[1])
        if built is not None and made.at is not None:
            built.at = made.at
