"""Gradients of one loss that are cleared before the next one is computed, where both are for one step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainlint.facts.ask.flow import is_made_of, made_of
from trainlint.facts.ask.stepped import certainly_clears
from trainlint.facts.ask.trained_by import may_train
from trainlint.facts.model.events.event import Escape, Event
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.events.parameters import ParametersRead
from trainlint.facts.model.events.steps import Backward, Clip, OptimizerStep, ZeroGrad
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, Op, Value, alternatives

Wiped = tuple[Backward, ZeroGrad, Backward, OptimizerStep]


def thrown_away(training: Training, runs: Sequence[Sequence[Event]]) -> Iterator[Wiped]:
    """A loss, the call that clears its gradients though nothing has used them, the loss that comes next, and the step that has
    the gradients of that one alone."""
    if len(training.events(Backward)) < 2:
        return
    found: dict[int, Wiped | None] = {}
    for run in runs:
        for position in range(1, len(run) - 2):
            first, clear, second = run[position - 1 : position + 2]
            is_between = isinstance(first, Backward) and isinstance(second, Backward)
            if is_between and isinstance(clear, ZeroGrad) and found.get(id(clear)) is None:
                found[id(clear)] = _wiped(training, first, clear, run[position + 1 :])
    yield from (one for one in found.values() if one is not None)


def _wiped(training: Training, first: Event, clear: ZeroGrad, rest: Sequence[Event]) -> Wiped | None:
    second = rest[0]
    if not (isinstance(first, Backward) and isinstance(second, Backward)) or first.at == second.at:
        return None
    step = next((one for one in rest if not isinstance(one, Backward)), None)
    if not isinstance(step, OptimizerStep) or not certainly_clears(clear.target, step.optimizer):
        return None
    is_one_step = first.loops == clear.loops == second.loops == step.loops
    if not is_one_step or not training.is_after(clear, first) or not training.is_after(step, clear):
        return None
    if not (may_train(training, first, step.optimizer) and may_train(training, second, step.optimizer)):
        return None
    is_lost = _is_loss(training, first) and not _is_looked_at(training, first, clear)
    return (first, clear, second, step) if is_lost else None


def _is_looked_at(training: Training, first: Backward, clear: ZeroGrad) -> bool:
    """Whether something between reads or clips gradients, or hands a module to code that is not in sight."""
    looks: list[Event] = [*training.events(ParametersRead), *training.events(Clip)]
    looks += [one for one in training.events(Escape) if _hands_out_modules(one)]
    return any(training.is_after(one, first) and training.is_after(clear, one) for one in looks)


def _is_loss(training: Training, backward: Backward) -> bool:
    """Whether gradients are computed of a loss, for parameters alone: those of an input, or of a score, are looked at."""
    if backward.inputs is not None or backward.by_framework:
        return False
    if any(isinstance(one, Op) and one.is_leaf for one in made_of(backward.loss)):
        return False
    return any(is_made_of(backward.loss, one.output) for one in training.events(LossCall))


def _hands_out_modules(escape: Escape) -> bool:
    values: Sequence[Value] = escape.values
    return any(isinstance(one, Object) for value in values for one in alternatives(value))
