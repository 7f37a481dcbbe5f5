"""Gradients that are clipped once all optimizers of a loop have used them, whichever of these steps the model that is clipped."""

from __future__ import annotations

from collections.abc import Sequence

from trainlint.facts.api.classes import OPTIMIZER
from trainlint.facts.ask.escapes import may_run_backward
from trainlint.facts.ask.stepped import certainly_clears
from trainlint.facts.model.events.event import Escape, Event
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.events.parameters import ParametersRead
from trainlint.facts.model.events.steps import Backward, Clip, OptimizerStep, ZeroGrad
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, Op, Value, alternatives

_Run = Sequence[Event]


def used_up(training: Training, clip: Clip) -> OptimizerStep | None:
    """The last step before a clip, if several optimizers of which nothing says what they hold are all cleared before any of them
    steps again."""
    optimizers = {
        one.uid: one for step in training.events(OptimizerStep) for one in alternatives(step.optimizer)
    }
    known = {one.uid for one in training.objects if one.is_a(OPTIMIZER)}
    are_given = all(isinstance(one, Object) and one.is_open for one in optimizers.values())
    if (
        len(optimizers) < 2
        or not are_given
        or not known <= set(optimizers)
        or not _is_trained(training, clip)
    ):
        return None
    found: OptimizerStep | None = None
    for run in training.runs(Backward, Clip, Escape, OptimizerStep, ParametersRead, ZeroGrad):
        for place, event in enumerate(run):
            if event is clip:
                found = _last_step(run[:place])
                if found is None or not _are_cleared_next(run[place + 1 :], list(optimizers.values())):
                    return None
    return found


def _is_trained(training: Training, clip: Clip) -> bool:
    """Whether what is clipped are the parameters of a model that is called here with a graph."""
    match clip.parameters:
        case Op(name="parameters", inputs=(Object() as model, *_)):
            return any(one.module is model and one.records for one in training.events(Forward))
    return False


def _last_step(before: _Run) -> OptimizerStep | None:
    """The last of the steps since `backward()`."""
    last: OptimizerStep | None = None
    for event in reversed(before):
        if isinstance(event, OptimizerStep):
            last = last or event
        elif isinstance(event, Backward):
            return last
        elif isinstance(event, ParametersRead) or (isinstance(event, Escape) and may_run_backward(event)):
            return None
    return None


def _are_cleared_next(after: _Run, optimizers: list[Value]) -> bool:
    """Whether nothing uses or adds to gradients before those of all optimizers are cleared."""
    left = list(optimizers)
    for event in after:
        if not left:
            return True
        if isinstance(event, ZeroGrad):
            left = [one for one in left if not certainly_clears(event.target, one)]
        elif isinstance(event, Escape):
            if may_run_backward(event):
                return False
        elif not isinstance(event, Clip):
            return False
    return True
