"""State: taken out of modules, saved, and loaded into modules and optimizers."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import torch

from trainlint.facts.model.events.modules import ModuleChanged
from trainlint.trace.watch.patches.replacing import replace
from trainlint.trace.watch.patches.telling import after, after_outermost

if TYPE_CHECKING:
    from trainlint.trace.watch.recorder import Recorder


def patch(recorder: Recorder, undo: ExitStack) -> None:
    replace(undo, torch.nn.Module, "load_state_dict", after(recorder, _loaded))
    replace(undo, torch.nn.Module, "state_dict", after_outermost(recorder, _taken))
    replace(undo, torch.optim.Optimizer, "load_state_dict", after(recorder, _resumed))
    replace(undo, torch, "save", after(recorder, _saved))


def _loaded(recorder: Recorder, result: Any, module: torch.nn.Module, /, *args: Any, **kwargs: Any) -> None:
    about, frame = recorder.models.handle(module), recorder.frame()
    recorder.emit(ModuleChanged, frame, about, module=about, what="load_state_dict")
    recorder.states.loaded(module, args, kwargs, result, frame)


def _taken(recorder: Recorder, result: Any, module: torch.nn.Module, /, *args: Any, **kwargs: Any) -> None:
    recorder.states.taken(module, result, recorder.frame())


def _resumed(
    recorder: Recorder, _: None, optimizer: torch.optim.Optimizer, /, *args: Any, **kwargs: Any
) -> None:
    recorder.resumes.loaded(optimizer, recorder.frame())


def _saved(recorder: Recorder, _: None, /, *args: Any, **kwargs: Any) -> None:
    recorder.states.saved(args[0] if args else kwargs["obj"], recorder.frame())
