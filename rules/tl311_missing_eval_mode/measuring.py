"""Forwards that measure what a model can do."""

from __future__ import annotations

from trainlint.facts.api.operations import EQUALITIES
from trainlint.facts.ask.asking import question
from trainlint.facts.ask.flow import is_made_of
from trainlint.facts.ask.holding import is_part_of
from trainlint.facts.ask.stepped import modules_held
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.events.losses import Accumulated, LossCall
from trainlint.facts.model.events.modules import StateLoaded
from trainlint.facts.model.events.operations import Operation
from trainlint.facts.model.events.steps import Backward, OptimizerStep
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Items, Object, Op, Value, alternatives


def only_measures(training: Training, forward: Forward, module: Object) -> bool:
    """Whether a forward only measures: what a model has learned in this program, or what was loaded into it."""
    is_loaded = (
        training.entry == "program"
        and not training.events(Backward)
        and any(one.target is module for one in training.events(StateLoaded))
    )
    if forward.records is not False:
        return _learns(training, module) and _is_compared(training, forward.output)
    return (is_loaded or _learns(training, module)) and (
        _is_compared(training, forward.output) or _is_lost(training, forward)
    )


def _learns(training: Training, module: Object) -> bool:
    """Whether an optimizer steps a module on losses that are made with it."""
    stepped = [
        one
        for step in training.events(OptimizerStep)
        for held in modules_held(step.optimizer)[0]
        for one in alternatives(held)
        if isinstance(one, Object)
    ]
    return any(is_part_of(module, one) for one in stepped) and any(
        forward.module is module
        and forward.records is not False
        and is_made_of(backward.loss, forward.output)
        for backward in training.events(Backward)
        for forward in training.events(Forward)
    )


def _is_lost(training: Training, forward: Forward) -> bool:
    """Whether a loss is computed of an output, which nobody will run backward on."""
    return any(_holds(one.output, forward.output) for one in training.events(LossCall))


def _is_compared(training: Training, output: Value) -> bool:
    """Whether predictions are compared with what is right, and the result counted."""
    counted = [event.value for event in training.events(Accumulated)]
    counted += [event.output for event in training.events(Operation) if event.output.name in EQUALITIES]
    return any(is_made_of(value, output) and _compares(value, output) for value in counted)


@question(start=False, unknown=False)
def _compares(value: Value, output: Value) -> bool:
    """Whether a value is made of a comparison of an output, by operations that are known."""
    if isinstance(value, Op) and value.name in EQUALITIES and _holds(value, output):
        return True
    return not _is_unknown(value) and any(_compares(one, output) for one in value.parts())


@question(start=False, unknown=False)
def _holds(value: Value, output: Value) -> bool:
    """Whether a value is an output, or made of it by operations that are known."""
    if value is output or (isinstance(output, Items) and any(value is one for one in output.items)):
        return True
    return not _is_unknown(value) and any(_holds(one, output) for one in value.parts())


def _is_unknown(value: Value) -> bool:
    return isinstance(value, Op) and value.name == "call"
