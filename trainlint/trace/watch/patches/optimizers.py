"""Optimizers: made, and stepping."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from trainlint.trace.watch.patches.replacing import replace
from trainlint.trace.watch.patches.telling import after

if TYPE_CHECKING:
    from trainlint.trace.watch.recorder import Recorder


def patch(recorder: Recorder, undo: ExitStack) -> None:
    replace(undo, torch.optim.Optimizer, "__init__", after(recorder, _made))


def hook(recorder: Recorder, undo: ExitStack) -> None:
    """Be told of every step."""

    def before(optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:
        before_step(recorder, optimizer, args, kwargs)

    def done(optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:
        after_step(recorder, optimizer, args, kwargs)

    undo.callback(register_optimizer_step_pre_hook(before).remove)
    undo.callback(register_optimizer_step_post_hook(done).remove)


def before_step(recorder: Recorder, optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:
    """An optimizer is about to step. The arguments are those of torch's hooks."""
    if recorder.listens:
        with recorder.careful:
            has_closure = _has_closure(args, kwargs)
            recorder.resumes.before_step(optimizer)
            recorder.steps.before_step(optimizer, has_closure)
            recorder.timeline.begin("step")
            recorder.within_torch = _is_of_torch(optimizer) and not has_closure


def after_step(recorder: Recorder, optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:
    """An optimizer has stepped."""
    recorder.within_torch = False
    if recorder.listens:
        with recorder.careful:
            recorder.timeline.end("step", type(optimizer).__name__)
            recorder.steps.after_step(optimizer, _has_closure(args, kwargs))
            recorder.tape.stepped(optimizer)


def _made(
    recorder: Recorder, _: None, optimizer: torch.optim.Optimizer, /, *args: Any, **kwargs: Any
) -> None:
    recorder.steps.optimizer_made(optimizer, recorder.frame())


def _is_of_torch(optimizer: torch.optim.Optimizer) -> bool:
    """Whether torch itself says how it steps."""
    return type(optimizer).step.__module__.startswith("torch.optim.")


def _has_closure(args: Any, kwargs: Any) -> bool:
    """Hooks are handed the optimizer itself first, then what `step` was given."""
    given = args[1] if len(args) > 1 else kwargs.get("closure")
    return callable(given)
