"""Threads that the program starts: the one that trains is the one that is recorded."""

from __future__ import annotations

import functools
import threading
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import torch

from trainlint.trace.launch.stop import Stop
from trainlint.trace.watch.function_mode import FunctionMode
from trainlint.trace.watch.patches.replacing import replace
from trainlint.trace.watch.patches.telling import Wrap

if TYPE_CHECKING:
    from trainlint.trace.watch.recorder import Recorder


def patch(recorder: Recorder, undo: ExitStack) -> None:
    """Last of all patches, so that the others are called when the right thread is known."""
    replace(undo, threading.Thread, "start", _starting(recorder))
    for owner in (torch.nn.Module, torch.optim.Optimizer):
        replace(undo, owner, "__init__", _following(recorder))
    replace(undo, torch.autograd, "backward", _following(recorder))


def _starting(recorder: Recorder) -> Wrap:
    def wrap(original: Any) -> Any:
        @functools.wraps(original)
        def start(thread: threading.Thread) -> None:
            if recorder.is_on:
                thread.run = _watched(recorder, thread.run)  # type: ignore[method-assign]
            original(thread)

        return start

    return wrap


def _watched(recorder: Recorder, run: Any) -> Any:
    """What a thread does, under a function mode of its own: modes belong to threads."""

    @functools.wraps(run)
    def watched() -> None:
        mode = FunctionMode(recorder)
        recorder.modes[threading.get_ident()] = mode
        try:
            with mode:
                run()
        except Stop:  # the rest of the program is ended at its next step
            pass
        finally:
            recorder.modes.pop(threading.get_ident(), None)

    return watched


def _following(recorder: Recorder) -> Wrap:
    def wrap(original: Any) -> Any:
        @functools.wraps(original)
        def call(*args: Any, **kwargs: Any) -> Any:
            if recorder.is_on:
                recorder.follows()
            return original(*args, **kwargs)

        return call

    return wrap
