"""Modules that another one follows, as a moving average of their weights, and that never learn themselves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from trainlint.facts.api.gradients import NO_GRADIENT
from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.attachment import cuts
from trainlint.facts.ask.escapes import given_away
from trainlint.facts.ask.freezing import may_be_frozen
from trainlint.facts.ask.holding import has_parameters, is_part_of
from trainlint.facts.ask.stepped import numbers_held
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.events.modules import StateLoaded
from trainlint.facts.model.events.parameters import ParametersRead
from trainlint.facts.model.events.steps import Backward, OptimizerStep
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, Op, Value, alternatives


class Followed(NamedTuple):
    """What a module gives without a graph to layers that learn, and the change that makes another module follow it."""

    output: Op
    backward: Backward
    change: ParametersRead


def never_learning(training: Training) -> Iterator[Followed]:
    """As the online network of two, of which the other is the average, where both run under `no_grad`."""
    if isinstance(training, Recorded):
        return
    for change in training.events(ParametersRead):
        for module in _followed_by(training, change):
            for backward in training.events(Backward):
                is_in_loop = backward.loops and backward.loops == change.loops[: len(backward.loops)]
                first = next(_given(backward, module), None) if is_in_loop else None
                if first is not None and not _may_learn(training, module):
                    yield Followed(first, backward, change)


def _followed_by(training: Training, change: ParametersRead) -> list[Object]:
    """The modules whose weights a loop goes through beside those that it changes: `zip(online.parameters(), target.parameters())`."""
    loop = training.loops.get(change.loops[-1]) if len(change.loops) > 1 and not change.of_gradients else None
    if loop is None or loop.over is None or not isinstance(change.target, Object):
        return []
    beside = {
        one.inputs[0]
        for one in reached([loop.over])
        if isinstance(one, Op) and one.name == "parameters" and one.inputs
    }
    if len(beside) != 2 or change.target not in beside or _learns(training, change.target):
        return []
    return [one for one in beside if isinstance(one, Object) and one is not change.target]


def _may_learn(training: Training, module: Object) -> bool:
    """Whether a module learns, is not meant to, or may by code that is not in sight."""
    steps = [one for step in training.events(OptimizerStep) for one in alternatives(step.optimizer)]
    left_out = any(
        isinstance(one, Object) and not one.is_open and module.uid not in numbers_held(training, one)
        for one in steps
    )
    handed = (one for one in given_away(training) if isinstance(one, Object))
    return (
        not steps
        or left_out
        or _learns(training, module)
        or may_be_frozen(training, module)
        or any(module in alternatives(one.target) for one in training.events(StateLoaded))
        or any(is_part_of(module, one) for one in handed)
    )


def _learns(training: Training, module: Object) -> bool:
    """Whether gradients of a loss reach what a module gives, or may in a call that is recorded."""
    if any(one.module is module and one.records is not False for one in training.events(Forward)):
        return True
    behind = reached((one.loss for one in training.events(Backward)), _recorded)
    return any(isinstance(one, Op) and one.owner is module and one.records is not False for one in behind)


def _given(backward: Backward, module: Object) -> Iterator[Op]:
    """What a module gives without a graph, and layers with one are given."""
    layers = (
        one
        for one in reached([backward.loss], _recorded)
        if isinstance(one, Op) and one.owner is not None and one.records and has_parameters(one.owner)
    )
    before = reached((inner for layer in layers for inner in layer.inputs), _recorded)
    for one in before:
        if isinstance(one, Op) and one.name == "output" and one.owner is module and one.records is False:
            yield one


def _recorded(value: Value) -> Iterable[Value]:
    """What a value is made of, as far as gradients may go."""
    is_end = isinstance(value, Op) and (value.records is False or cuts(value) or value.name in NO_GRADIENT)
    return () if is_end else value.parts()
