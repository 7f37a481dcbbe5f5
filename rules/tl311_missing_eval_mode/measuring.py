"""Forwards that measure what a model can do."""

from __future__ import annotations

from collections.abc import Sequence

from trainlint.facts.api.classes import SOME_LOSS
from trainlint.facts.api.noted import METRICS
from trainlint.facts.api.operations import EQUALITIES, FRESH
from trainlint.facts.ask.asking import question
from trainlint.facts.ask.flow import is_made_of, made_of
from trainlint.facts.ask.holding import is_part_of
from trainlint.facts.ask.loaders import uses
from trainlint.facts.ask.modes import is_inside
from trainlint.facts.ask.stepped import modules_held
from trainlint.facts.model.elements import plain
from trainlint.facts.model.events.batches import Drawn
from trainlint.facts.model.events.calls import Called
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.events.losses import Accumulated, LossCall
from trainlint.facts.model.events.operations import Operation
from trainlint.facts.model.events.steps import Backward, OptimizerStep
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Items, Object, Op, Value, alternatives

from .after_training import is_after_all_training
from .loaded import is_loaded
from .named import is_held_out_by_name


def only_measures(training: Training, forward: Forward, module: Object) -> bool:
    """Whether a forward only measures: what a model has learned in this program, or what was loaded into it."""
    if forward.records is not False:
        return _learns(training, module) and (
            _is_compared(training, forward.output)
            or _loss_is_tallied(training, forward)
            or (is_held_out(training, forward) and _is_lost(training, forward))
        )
    return (is_loaded(training, forward, module) or _learns(training, module)) and is_scored(
        training, forward
    )


def is_scored(training: Training, forward: Forward) -> bool:
    """Whether what a model gives without gradients is compared with targets, or is of a loader that only measures."""
    return (
        _is_compared(training, forward.output)
        or _is_lost(training, forward)
        or _is_tallied(training, forward.output)
        or _is_of_loader_to_measure(training, forward)
        or is_held_out_by_name(forward)
    )


def is_put_to_use(training: Training, forward: Forward, module: Object) -> bool:
    """Whether what a model gives is used, and cannot be for training: it gets batches of a loader that trains nothing,
    while another one trains it; or it was loaded in a program that trains nothing, and is given more than noise; or all
    training is over."""
    if isinstance(forward.output, Op) and forward.output.is_ignored:
        return False
    if is_loaded(training, forward, module):
        return not all(isinstance(one, Op) and one.name in FRESH for one in forward.inputs)
    return _learns(training, module) and (
        is_held_out(training, forward) or is_after_all_training(training, forward)
    )


def is_held_out(training: Training, forward: Forward) -> bool:
    """Whether a forward is given batches of a loader that trains nothing, while another one trains."""
    taught = {use.loader.uid for use in uses(training) if use.trains}
    return bool(taught) and any(
        drawn.loader.uid not in taught
        and forward.loops[: len(drawn.loops)] == drawn.loops
        and any(is_made_of(given, drawn.batch) for given in forward.inputs)
        for drawn in training.events(Drawn)
    )


def _learns(training: Training, module: Object) -> bool:
    """Whether an optimizer steps a module, or a part of it, on losses that are made with it. One whose parameters are not
    in sight may hold it."""
    held = [modules_held(step.optimizer) for step in training.events(OptimizerStep)]
    stepped = [one for each in held for value in each.modules for one in alternatives(value)]
    may_step = not all(each.complete for each in held) or any(
        isinstance(one, Object) and (is_part_of(module, one) or is_part_of(one, module)) for one in stepped
    )
    return may_step and any(
        forward.module is module
        and forward.records is not False
        and is_made_of(backward.loss, forward.output)
        for backward in training.events(Backward)
        for forward in training.events(Forward)
    )


def _is_lost(training: Training, forward: Forward) -> bool:
    """Whether a loss is computed of an output, or in the forward itself, which nobody will run backward on."""
    if any(
        one.output.name == SOME_LOSS and _holds(one.output, forward.output)
        for one in training.events(Operation)
    ):
        return True
    return any(
        _holds(one.output, forward.output)
        or (is_inside(one, forward) and is_made_of(forward.output, one.output))
        for one in training.events(LossCall)
    )


def _loss_is_tallied(training: Training, forward: Forward) -> bool:
    """Whether a loss of an output is only added up as a number."""
    return any(
        _holds(one.output, forward.output) and _is_tallied(training, one.output)
        for one in training.events(LossCall)
    )


def _is_tallied(training: Training, output: Value) -> bool:
    """Whether numbers of an output are added up, as of a loss that the model itself computes."""
    return any(
        _holds(event.value, output)
        and any(isinstance(one, Op) and one.name == "item" for one in made_of(event.value))
        for event in training.events(Accumulated)
    )


def _is_of_loader_to_measure(training: Training, forward: Forward) -> bool:
    """Whether a module is given batches of a loader that trains nothing, and something is done with what it gives."""
    return any(
        use.measures and is_made_of(given, use.drawn.batch)
        for use in uses(training)
        for given in forward.inputs
    )


def _is_compared(training: Training, output: Value) -> bool:
    """Whether predictions are compared with what is right, and the result counted, or given to a metric together."""
    graded = [event for event in training.events(Called) if event.name.startswith(METRICS)]
    if any(_is_graded(event, output) for event in graded):
        return True
    counted = [one for event in training.events(Accumulated) for one in (event.value, event.result)]
    counted += [event.output for event in training.events(Operation) if event.output.name in EQUALITIES]
    return any(is_made_of(value, output) and _compares(value, output) for value in counted)


def _is_graded(call: Called, output: Value) -> bool:
    """Whether a metric is given what is made of an output, and beside it what is not."""
    given = [*call.args, *call.options.values()]
    predicted = [_holds(one, output) for one in given[:2]]
    return predicted.count(True) == 1 and len(predicted) == 2


@question(start=False, unknown=False)
def _compares(value: Value, output: Value) -> bool:
    """Whether a value is made of a comparison of an output, by operations that are known."""
    if isinstance(value, Op) and (
        (value.name in EQUALITIES and _holds(value, output)) or _counts_pairs(value, output)
    ):
        return True
    return not _is_unknown(value) and any(_compares(one, output) for one in value.parts())


def _counts_pairs(op: Op, output: Value) -> bool:
    """Whether it counts how often each prediction meets each class: `bincount(classes * target + predicted)`, or
    `table[target, predicted]`."""
    index = op.options.get("index") if op.name == "getitem" else None
    pair: Sequence[Value] = index.items if isinstance(index, Items) else ()
    if op.name == "bincount" and op.inputs and isinstance(op.inputs[0], Op) and plain(op.inputs[0]) == "+":
        pair = op.inputs[0].inputs
    predicted = [_holds(one, output) for one in pair]
    return len(pair) == 2 and predicted.count(True) == 1 and isinstance(pair[predicted.index(False)], Op)


@question(start=False, unknown=False)
def _holds(value: Value, output: Value) -> bool:
    """Whether a value is an output, or made of it by operations that are known."""
    if value is output or (isinstance(output, Items) and any(value is one for one in output.items)):
        return True
    return (
        not _is_unknown(value) and not _is_size(value) and any(_holds(one, output) for one in value.parts())
    )


def _is_size(value: Value) -> bool:
    """Whether a value only says how large a tensor is."""
    return isinstance(value, Op) and value.name in ("shape", "size")


def _is_unknown(value: Value) -> bool:
    return isinstance(value, Op) and value.name == "call"
