"""Schedulers of learning rates: made, and stepping."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from torch.optim import lr_scheduler

from trainlint.trace.watch.patches.replacing import replace
from trainlint.trace.watch.patches.telling import after

if TYPE_CHECKING:
    from trainlint.trace.watch.recorder import Recorder


def patch(recorder: Recorder, undo: ExitStack) -> None:
    replace(undo, lr_scheduler.LRScheduler, "__init__", after(recorder, _made))
    for kind in vars(lr_scheduler).values():
        if isinstance(kind, type) and "step" in vars(kind):
            replace(undo, kind, "step", after(recorder, _stepped))


def _made(recorder: Recorder, _: None, scheduler: Any, /, *args: Any, **kwargs: Any) -> None:
    frame = recorder.frame()
    recorder.schedules.made(scheduler, frame)
    recorder.resumes.scheduler_made(scheduler, frame)


def _stepped(recorder: Recorder, _: None, scheduler: Any, /, *args: Any, **kwargs: Any) -> None:
    """Schedulers step others, and themselves when they are made: only what the program calls counts."""
    caller = sys._getframe(2)
    if recorder.own.innermost(caller) is caller:
        told = next(iter((*args, *kwargs.values())), None)
        recorder.schedules.stepped(scheduler, told, caller)
