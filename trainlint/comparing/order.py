"""The order in which the first steps of a run do things."""

from __future__ import annotations

from trainlint.facts.model.events.batches import Drawn
from trainlint.facts.model.events.event import Event
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.events.modules import ModeChange
from trainlint.facts.model.events.steps import (
    Backward,
    Clip,
    OptimizerStep,
    ScaleUpdate,
    SchedulerStep,
    Unscale,
    ZeroGrad,
)
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.model.values import Object, Value

_MOST = 200
"""Events of a run that are looked at."""


def order(run: Recorded) -> list[str]:
    """What happens, event by event, up to the end of the second step; the same again and again stands there once."""
    found: list[str] = []
    steps = 0
    for event in run.events(Event):
        said = _said(event)
        if said and (not found or found[-1] != said):
            found.append(said)
        steps += isinstance(event, OptimizerStep)
        if steps == 2 or len(found) == _MOST:
            break
    return found


def _said(event: Event) -> str:
    """An event in a few words; empty for what is no part of a training step."""
    match event:
        case Drawn():
            return "draw a batch"
        case Forward():
            mode = "train" if event.mode else "eval"
            gradients = "" if event.records else ", without gradients"
            return f"forward of {_name(event.module)} ({mode} mode{gradients})"
        case LossCall():
            return f"loss {event.name}" if event.function != "log_softmax" else ""
        case Backward():
            return "backward"
        case Clip():
            return "clip gradients"
        case Unscale():
            return "unscale gradients"
        case ScaleUpdate():
            return "update the scale"
        case OptimizerStep():
            return f"step of {_name(event.optimizer)}"
        case ZeroGrad():
            return f"zero_grad of {_name(event.target)}"
        case SchedulerStep():
            return f"step of {_name(event.scheduler)}"
        case ModeChange():
            return f"{'train' if event.training else 'eval'}() of {_name(event.module)}"
    return ""


def _name(value: Value | None) -> str:
    return value.type.rpartition(".")[2] if isinstance(value, Object) else "something"
