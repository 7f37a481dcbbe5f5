"""Steps in evaluation mode that a program means."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainlint.facts.ask.flow import all_that_makes, is_among
from trainlint.facts.ask.new_axes import new_axis
from trainlint.facts.model.events.event import Event
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.events.modules import ModeChange
from trainlint.facts.model.events.steps import Backward, OptimizerStep
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Op, Value, alternatives, compatible


def is_other_split(training: Training, switched: ModeChange, forward: Forward) -> bool:
    """Whether `eval()` is called where no step follows, and `train()` where one does: `if split == "train"` twice. What
    holds at the forward itself holds at both: the module may be there on one way alone."""
    steps = [one for one in training.events(Backward) if _is_step_on(one, forward)]
    trains = [
        set(one.guards)
        for one in training.events(ModeChange)
        if one.training is True and one.loops == switched.loops and one.calls == switched.calls
    ]
    return bool(steps) and all(
        not compatible(switched.guards, step.guards)
        and any(one <= {*step.guards, *forward.guards} for one in trains)
        for step in steps
    )


def _is_step_on(backward: Backward, forward: Forward) -> bool:
    """Whether a backward pass is in the loop of a forward, or comes after that loop and is for what it has made."""
    if len(backward.loops) >= len(forward.loops):
        return backward.loops[: len(forward.loops)] == forward.loops
    return is_among(forward.output, all_that_makes([backward.loss], with_graph=True))


def is_around_it(training: Training, switched: ModeChange, forward: Forward) -> bool:
    """Whether a function switches to evaluation for one call alone, such as to choose an action, and straight back."""
    switches = [one for one in training.events(ModeChange) if one.module is switched.module]
    back = next((one for one in switches if training.is_after(one, switched)), None)
    if back is None or back.training is False or forward.loops != switched.loops:
        return False
    return (back.calls, back.loops, back.guards) == (switched.calls, switched.loops, switched.guards)


def is_set_at_first(training: Training, switched: ModeChange, forward: Forward) -> bool:
    """Whether the first iteration switches to training mode, and no later one back: `if step % every == 0: evaluate(model)`,
    which ends with `train()`."""
    if switched.loops == forward.loops:
        return False
    order = training.events(Event)
    before, after = order.index(switched), order.index(forward)
    inside = [one for one in order[before + 1 : after] if isinstance(one, ModeChange)]
    last = next((one for one in reversed(inside) if one.module is switched.module), None)
    if last is None or last.loops != forward.loops:
        return False
    return all(_holds_at_first(guard) for guard in last.guards if guard not in forward.guards)


def _holds_at_first(guard: tuple[Any, bool]) -> bool:
    """Whether a condition holds in the first iteration of a loop that counts from 0."""
    match guard:
        case (("or", *ways), True):
            return any(_holds_at_first((way, True)) for way in ways)
        case (("==", ("%", ("value" | "result", _), _), ("constant", "0")), True):
            return True
    return False


def is_meant(training: Training, switched: ModeChange, forward: Forward) -> bool:
    """Whether `eval()` is called right before the step, in the same function and loop: then it is on purpose."""
    order = [event for event in training.events(Event) if event is switched or event is forward]
    return training.is_own_choice(switched, forward) and order[0] is switched


def is_of_one_sample(training: Training, switched: ModeChange, forward: Forward) -> bool:
    """Whether the module is only given single samples, each made a batch of its own: batch norm has no statistics of one."""
    given = [one for value in forward.inputs[:1] for one in alternatives(value)]
    return bool(given) and all(map(_is_one_sample, given))


def _is_one_sample(value: Value) -> bool:
    while isinstance(value, Op) and value.name in ("to", "cuda", "float") and value.inputs:
        value = value.inputs[0]
    return new_axis(value) == 0


def is_setting(training: Training, switched: ModeChange, forward: Forward) -> bool:
    """Whether a function that trains sets the mode before its step, by what was decided before there was an optimizer:
    `if self.finetune`. One that is told the mode by its caller may train in the one for evaluation by mistake, unless that
    calls `train()` right before."""
    if not _is_decided_early(training, switched) or not training.is_after(forward, switched):
        return False
    if any(_is_right_before(training, one, switched) for one in training.events(ModeChange)):
        return True
    steps = [one for one in training.events(Backward) if _is_step_on(one, forward)]
    return _is_one_of_two_ways(training, switched) and all(
        switched.calls[: len(one.calls)] == one.calls for one in steps
    )


def _is_decided_early(training: Training, switched: ModeChange) -> bool:
    """Whether the condition under which the mode is set has been decided before there was an optimizer."""
    if not switched.guards:
        return False
    made = [one.uid for step in training.events(OptimizerStep) for one in alternatives(step.optimizer)]
    return max(_numbers_in(switched.guards[-1][0]), default=0) < min(made, default=0)


def _is_one_of_two_ways(training: Training, switched: ModeChange) -> bool:
    """Whether the mode is set too where the condition turns out the other way."""
    *around, (condition, outcome) = switched.guards
    other = (*around, (condition, not outcome))
    return any(one.module is switched.module and one.guards == other for one in training.events(ModeChange))


def _is_right_before(training: Training, change: ModeChange, switched: ModeChange) -> bool:
    """Whether training mode is set in the same function and iteration, whichever way the last condition turns out, and the
    module is not called in between."""
    between = (one for one in training.events(Forward) if one.module is switched.module)
    return (
        change.training is True
        and change.module is switched.module
        and (change.calls, change.loops) == (switched.calls, switched.loops)
        and change.guards == switched.guards[:-1]
        and training.is_after(switched, change)
        and not any(training.is_after(one, change) and training.is_after(switched, one) for one in between)
    )


def _numbers_in(condition: Any) -> Iterator[int]:
    """The numbers of the values that a condition asks for."""
    pending = [condition]
    while pending:
        match pending.pop():
            case int(number):
                yield number
            case tuple(parts):
                pending += parts
