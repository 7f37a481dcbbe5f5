"""Gradient scalers: made, scaling, unscaling, stepping, and adapting their scale."""

from __future__ import annotations

import functools
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import torch

from trainlint.facts.model.events.steps import ScaleUpdate, Unscale
from trainlint.trace.watch.graph import tensors
from trainlint.trace.watch.patches.replacing import replace
from trainlint.trace.watch.patches.telling import Wrap, after

if TYPE_CHECKING:
    from trainlint.trace.watch.recorder import Recorder


def patch(recorder: Recorder, undo: ExitStack) -> None:
    scaler = torch.amp.grad_scaler.GradScaler
    replace(undo, scaler, "__init__", after(recorder, _made))
    replace(undo, scaler, "scale", _scaling(recorder))
    replace(undo, scaler, "unscale_", after(recorder, _unscaled))
    replace(undo, scaler, "step", _stepping(recorder))
    replace(undo, scaler, "update", after(recorder, _updated))


def _made(recorder: Recorder, _: None, scaler: Any, /, *args: Any, **kwargs: Any) -> None:
    asked = args[5] if len(args) > 5 else kwargs.get("enabled", True)
    recorder.scalers.made(scaler, recorder.frame(), bool(asked))


def _scaling(recorder: Recorder) -> Wrap:
    def wrap(original: Any) -> Any:
        @functools.wraps(original)
        def scale(scaler: Any, outputs: Any) -> Any:
            if not recorder.listens:
                return original(scaler, outputs)
            before = [recorder.graph.of(one) for one in tensors(outputs)]
            result = original(scaler, outputs)
            with recorder.careful:
                for value, tensor in zip(before, tensors(result), strict=False):
                    recorder.scalers.scaled(scaler, value, tensor, recorder.frame())
                for given, tensor in zip(tensors(outputs), tensors(result), strict=False):
                    recorder.tape.is_scaled(given, tensor)
            return result

        return scale

    return wrap


def _unscaled(recorder: Recorder, _: None, scaler: Any, optimizer: Any) -> None:
    made, held = recorder.objects.of(scaler), recorder.steps.of(optimizer).object
    recorder.emit(Unscale, recorder.frame(), None, scaler=made, optimizer=held)


def _stepping(recorder: Recorder) -> Wrap:
    def wrap(original: Any) -> Any:
        @functools.wraps(original)
        def step(scaler: Any, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
            if not recorder.listens:
                return original(scaler, optimizer, *args, **kwargs)
            steps = recorder.steps.of(optimizer).steps
            recorder.scalers.at_work = scaler
            try:
                result = original(scaler, optimizer, *args, **kwargs)
            finally:
                recorder.scalers.at_work = None
            if recorder.listens:
                with recorder.careful:
                    recorder.scalers.stepped(scaler, optimizer, steps)
            return result

        return step

    return wrap


def _updated(recorder: Recorder, _: None, scaler: Any, new_scale: Any = None) -> None:
    to = recorder.graph.value(new_scale) if new_scale is not None else None
    about = recorder.objects.of(scaler)
    recorder.emit(ScaleUpdate, recorder.frame(), about, scaler=about, to=to)
