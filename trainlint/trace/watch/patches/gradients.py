"""Gradients: computed, cleared, clipped, and asked for."""

from __future__ import annotations

import functools
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import torch

from trainlint.facts.model.events.parameters import ParametersRead
from trainlint.facts.model.events.steps import ZeroGrad
from trainlint.facts.model.values import Constant
from trainlint.trace.watch.failed import note_failed
from trainlint.trace.watch.graph import tensors
from trainlint.trace.watch.optimizers import parameters_of
from trainlint.trace.watch.patches.replacing import replace
from trainlint.trace.watch.patches.telling import Wrap, after, before

if TYPE_CHECKING:
    from trainlint.trace.watch.recorder import Recorder


def patch(recorder: Recorder, undo: ExitStack) -> None:
    for owner in (torch.nn.Module, torch.optim.Optimizer):
        replace(undo, owner, "zero_grad", after(recorder, _cleared))
    replace(undo, torch.autograd, "backward", _going_back(recorder))
    replace(undo, torch.autograd, "grad", before(recorder, _asked_for))
    for module in (torch.nn.utils.clip_grad, torch.nn.utils):
        for name in ("clip_grad_norm_", "clip_grad_value_"):
            replace(undo, module, name, _clipping(recorder))


def _cleared(recorder: Recorder, _: None, target: Any, /, *args: Any, **kwargs: Any) -> None:
    is_optimizer = isinstance(target, torch.optim.Optimizer)
    if recorder.within_torch:
        recorder.steps.settle(list(parameters_of(target) if is_optimizer else target.parameters()))
    about = recorder.steps.of(target).object if is_optimizer else recorder.objects.of(target)
    told = args[0] if args else kwargs.get("set_to_none")
    to_none = Constant(value=told) if told is not None else None
    recorder.emit(ZeroGrad, recorder.frame(), about, target=about, to_none=to_none)


def _asked_for(recorder: Recorder, outputs: Any, *args: Any, **kwargs: Any) -> None:
    recorder.emit(ParametersRead, recorder.frame(), None, target=recorder.graph.value(outputs))


def _going_back(recorder: Recorder) -> Wrap:
    def wrap(original: Any) -> Any:
        @functools.wraps(original)
        def backward(tensors: Any, *args: Any, **kwargs: Any) -> None:
            if not recorder.listens:
                recorder.steps.backward_unheard()
                return original(tensors, *args, **kwargs)  # type: ignore[no-any-return]
            losses = list(tensors) if isinstance(tensors, (list, tuple)) else [tensors]
            with recorder.careful:
                retains = args[1] if len(args) > 1 else kwargs.get("retain_graph")
                recorder.steps.before_backward(losses, recorder.frame(), retains)
                recorder.tape.runs_back(losses)
                recorder.timeline.begin("backward")
            try:
                original(tensors, *args, **kwargs)
            except Exception as error:
                with recorder.careful:
                    note_failed(recorder, "backward", losses, {}, error)
                raise
            if recorder.listens:
                with recorder.careful:
                    recorder.timeline.end("backward")
                    recorder.steps.after_backward()
            return None

        return backward

    return wrap


def _clipping(recorder: Recorder) -> Wrap:
    def wrap(original: Any) -> Any:
        @functools.wraps(original)
        def clip(parameters: Any, *args: Any, **kwargs: Any) -> Any:
            limit = args[0] if args else kwargs.get("max_norm")
            if recorder.listens and limit != float("inf"):
                if not isinstance(parameters, torch.Tensor):
                    parameters = list(parameters)  # what can be gone through only once has to last for both
                with recorder.careful:
                    recorder.clipping.clipped(tensors(parameters))
            return original(parameters, *args, **kwargs)

        return clip

    return wrap
