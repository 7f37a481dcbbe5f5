"""Modules whose `forward` is called as a method, past the module itself."""

from __future__ import annotations

from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

import torch

from trainlint.facts.model.events.forwards import ForwardCalled

if TYPE_CHECKING:
    from trainlint.trace.watch.recorder import Recorder


class DirectForward:
    """Looks at what called the `forward` that is running."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._known: set[tuple[CodeType, CodeType, int]] = set()

    def look(self, frame: FrameType | None, own: FrameType | None) -> None:
        """Look at every frame from the running one up to the program's own."""
        while frame is not None:
            if frame.f_code.co_name == "forward":
                self._forward(frame)
            if frame is own:
                return
            frame = frame.f_back

    def _forward(self, frame: FrameType) -> None:
        caller = frame.f_back
        if caller is None:
            return
        key = (frame.f_code, caller.f_code, caller.f_lasti)
        if key in self._known:
            return
        self._known.add(key)
        recorder = self._recorder
        module = _receiver(frame)
        if recorder.own.innermost(caller) is not caller or not isinstance(module, torch.nn.Module):
            return
        if module is not _receiver(caller) and module is not caller.f_locals.get("self"):
            made = recorder.objects.of(module)
            recorder.emit(ForwardCalled, caller, made, module=made)


def _receiver(frame: FrameType) -> Any:
    names = frame.f_code.co_varnames
    return frame.f_locals.get(names[0]) if names and frame.f_code.co_argcount else None
