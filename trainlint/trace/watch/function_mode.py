"""Every function of torch's that Python calls, seen by a mode."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch.overrides import TorchFunctionMode

from trainlint.trace.watch.failed import note_failed
from trainlint.trace.watch.genuine import genuine
from trainlint.trace.watch.names import Name, name_of

if TYPE_CHECKING:
    from trainlint.trace.watch.recorder import Recorder


class FunctionMode(TorchFunctionMode):
    """Sees every function of torch's that Python calls."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__()
        self._recorder = recorder
        self._known: dict[Any, tuple[Callable[..., Any], Name]] = {}

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        recorder = self._recorder
        if not recorder.is_on or recorder.within_torch or torch.compiler.is_compiling():
            return func(*args, **(kwargs or {}))
        known = self._known.get(func)
        if known is None:
            real = genuine(func, sys._getframe(1))
            known = self._known[func] = real, name_of(real)
        func, name = known
        if not name.text:
            return func(*args, **(kwargs or {}))
        try:
            result = func(*args, **(kwargs or {}))
        except Exception as error:
            if recorder.listens:
                with recorder.careful:
                    note_failed(recorder, name.text, args, kwargs or {}, error)
            raise
        if recorder.listens:
            with recorder.careful:
                recorder.operations.returned(name, args, kwargs or {}, result)
                if recorder.tape.is_on:
                    recorder.tape.operation(name.text, func, args, kwargs or {}, result, name.in_place)
        return result
