"""Modules: made, called, switched between modes, moved and converted."""

from __future__ import annotations

import functools
import os
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import torch

from trainlint.facts.api.precision import CONVERSIONS
from trainlint.facts.model.events.modules import Converted, ModeChange, Moved
from trainlint.facts.model.values import Constant, Named
from trainlint.trace.watch.patches.compiled import call_unwatched, is_compiled
from trainlint.trace.watch.patches.replacing import replace
from trainlint.trace.watch.patches.telling import Wrap, after, after_outermost, before

if TYPE_CHECKING:
    from trainlint.trace.watch.recorder import Recorder

_TRANSPARENT = ("__init__", "__call__")
_PATCHES = os.path.dirname(__file__)


def patch(recorder: Recorder, undo: ExitStack) -> None:
    module = torch.nn.Module
    replace(undo, module, "__init__", after(recorder, _made))
    replace(undo, module, "__call__", _calling(recorder))
    replace(undo, module, "train", after_outermost(recorder, _switched))
    replace(undo, module, "to", after(recorder, _moved))
    for name, dtype in CONVERSIONS.items():
        replace(undo, module, name, after(recorder, functools.partial(_converted, dtype)))
    replace(undo, module, "parameters", before(recorder, _listed))


def _calling(recorder: Recorder) -> Wrap:
    def wrap(original: Any) -> Any:
        @functools.wraps(original)
        def __call__(module: torch.nn.Module, *args: Any, **kwargs: Any) -> Any:
            if not recorder.listens and (not recorder.is_on or not recorder.follows()):
                return original(module, *args, **kwargs)
            if is_compiled(module):
                return call_unwatched(recorder, recorder.modules.call, original, module, args, kwargs)
            return recorder.modules.call(original, module, args, kwargs)

        return __call__

    return wrap


def _made(recorder: Recorder, _: None, module: torch.nn.Module, /, *args: Any, **kwargs: Any) -> None:
    frame = sys._getframe(2)
    while frame.f_back is not None and os.path.dirname(frame.f_code.co_filename) == _PATCHES:
        frame = frame.f_back  # another patch of the same function
    while (
        frame.f_back is not None
        and frame.f_code.co_name in _TRANSPARENT
        and frame.f_locals.get(frame.f_code.co_varnames[0] if frame.f_code.co_varnames else "")
        in (module, None)
    ):
        frame = frame.f_back
    maker = recorder.own.innermost(frame)
    recorder.objects.made(module, recorder.at(maker))
    recorder.made_in_forward.made(module, maker)


def _switched(recorder: Recorder, _: Any, module: torch.nn.Module, mode: bool = True) -> None:
    about = recorder.models.handle(module)
    recorder.emit(ModeChange, recorder.frame(), about, module=about, training=bool(mode))


def _moved(recorder: Recorder, _: Any, module: torch.nn.Module, /, *args: Any, **kwargs: Any) -> None:
    about = recorder.models.handle(module)
    given = (*args, *kwargs.values())
    device = next((one for one in given if isinstance(one, (str, torch.device))), None)
    if device is not None:
        where = Constant(value=str(device))
        recorder.emit(Moved, recorder.frame(), about, what=about, device=where)
    dtype = next((one for one in given if isinstance(one, torch.dtype)), None)
    if dtype is not None:
        recorder.emit(Converted, recorder.frame(), about, module=about, dtype=Named(name=str(dtype)))


def _converted(dtype: str, recorder: Recorder, _: Any, module: torch.nn.Module) -> None:
    about, wanted = recorder.models.handle(module), Named(name=f"torch.{dtype}")
    recorder.emit(Converted, recorder.frame(), about, module=about, dtype=wanted)


def _listed(recorder: Recorder, module: torch.nn.Module, recurse: bool = True) -> None:
    caller = sys._getframe(2)
    if recorder.own.innermost(caller) is caller:
        recorder.models.handle(module)
