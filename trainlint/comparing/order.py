"""The order in which the first steps of a run do things."""

from __future__ import annotations

from trainlint.facts.model import events as ev
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.model.values import Object, Value

_MOST = 200
"""Events of a run that are looked at."""


def order(run: Recorded) -> list[str]:
    """What happens, event by event, up to the end of the second step; the same again and again stands there once."""
    found: list[str] = []
    steps = 0
    for event in run.events(ev.Event):
        said = _said(event)
        if said and (not found or found[-1] != said):
            found.append(said)
        steps += isinstance(event, ev.OptimizerStep)
        if steps == 2 or len(found) == _MOST:
            break
    return found


def _said(event: ev.Event) -> str:
    """An event in a few words; empty for what is no part of a training step."""
    match event:
        case ev.Drawn():
            return "draw a batch"
        case ev.Forward():
            mode = "train" if event.mode else "eval"
            gradients = "" if event.records else ", without gradients"
            return f"forward of {_name(event.module)} ({mode} mode{gradients})"
        case ev.LossCall():
            return f"loss {event.name}" if event.function != "log_softmax" else ""
        case ev.Backward():
            return "backward"
        case ev.Clip():
            return "clip gradients"
        case ev.Unscale():
            return "unscale gradients"
        case ev.ScaleUpdate():
            return "update the scale"
        case ev.OptimizerStep():
            return f"step of {_name(event.optimizer)}"
        case ev.ZeroGrad():
            return f"zero_grad of {_name(event.target)}"
        case ev.SchedulerStep():
            return f"step of {_name(event.scheduler)}"
        case ev.ModeChange():
            return f"{'train' if event.training else 'eval'}() of {_name(event.module)}"
    return ""


def _name(value: Value | None) -> str:
    return value.type.rpartition(".")[2] if isinstance(value, Object) else "something"
