"""Gradients that are cleared with every batch, where several of them are to accumulate for one step."""

from __future__ import annotations

from collections.abc import Iterator

from trainlint.facts.ask.guards import counting
from trainlint.facts.ask.stepped import certainly_clears
from trainlint.facts.model.events.event import Event
from trainlint.facts.model.events.steps import Backward, OptimizerStep, ZeroGrad
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Constant, Object, Op, Unknown, Value, compatible
from trainlint.finding import Because, Finding


def cleared_each_time(training: Training) -> Iterator[Finding]:
    """An optimizer that steps on every n-th batch alone, and is cleared on each."""
    for step in training.events(OptimizerStep):
        if not step.loops or not counting(training.inside_loop(step)):
            continue
        backwards = [
            one for one in training.inside(step.loops[-1], Backward) if _is_each_time(training, one, step)
        ]
        clears = [
            one
            for one in training.inside(step.loops[-1], ZeroGrad)
            if _is_each_time(training, one, step) and certainly_clears(one.target, step.optimizer)
        ]
        if not clears or not backwards or not _is_alone(training, step):
            continue
        is_divided = any(_is_divided(one.loss) for one in backwards)
        yield Finding(
            clears[0].at,
            "This clears the gradients of every batch, while the optimizer only steps after several, so each step uses the "
            "last of them alone. Clear them behind `step()`, under the same condition.",
            (Because(step.at, "the optimizer only steps here"),),
            confidence=None if is_divided else "likely",
            doubt="" if is_divided else "the other batches may be left out on purpose",
        )


def _is_each_time(training: Training, event: Event, step: OptimizerStep) -> bool:
    """Whether something happens on each iteration of the loop in which a step only happens on some."""
    own = training.inside_loop(event)
    return event.loops == step.loops and not counting(own) and set(own) < set(training.inside_loop(step))


def _is_alone(training: Training, step: OptimizerStep) -> bool:
    """Whether no other optimizer steps in the loop but one that a setting puts in its place, and this one nowhere else in it."""
    return all(
        one.at == step.at and (one.optimizer is step.optimizer or not compatible(one.guards, step.guards))
        for one in training.inside(step.loops[-1], OptimizerStep)
    )


def _is_divided(loss: Value) -> bool:
    """Whether a loss is divided by a number, as that of one of several batches is."""
    while isinstance(loss, Op) and loss.name in ("scale", "output") and loss.inputs:
        loss = loss.inputs[0]
    match loss:
        case Op(name="/" | "div", inputs=(_, divisor)):
            return isinstance(divisor, (Constant, Unknown)) or _is_setting(divisor)
    return False


def _is_setting(value: Value) -> bool:
    return (
        isinstance(value, Op) and value.name == "getattr" and isinstance(value.inputs[0], (Unknown, Object))
    )
