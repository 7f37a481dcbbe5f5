"""Losses that are divided where they are shown, and not where their gradients are computed."""

from __future__ import annotations

from collections.abc import Iterator

from trainlint.facts.api.classes import SOME_OPTIMIZER
from trainlint.facts.ask.asking import reached
from trainlint.facts.model.events.losses import Accumulated
from trainlint.facts.model.events.steps import Backward, Clip, OptimizerStep
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Constant, Object, Op, Value, alternatives
from trainlint.finding import Because, Finding

_KEEPS = frozenset("detach item float_number builtins.float data cpu clone output mean getitem".split())


def divided_to_be_shown(training: Training) -> Iterator[Finding]:
    """An inner loop over the batches of one step sums up `loss / n` to show it, and runs backward on the loss itself."""
    for backward in training.events(Backward):
        times = _rounds(training, backward)
        step = _step_behind(training, backward)
        if times is None or step is None or not backward.accumulates or backward.by_framework:
            continue
        if all(map(_is_of_no_size, alternatives(step.optimizer))) and not training.inside(
            step.loops[-1], Clip
        ):
            continue
        for shown in training.inside(backward.loops[-1], Accumulated):
            if shown.loops == backward.loops and _is_share_of(shown.value, backward.loss, times):
                yield Finding(
                    backward.at,
                    "The gradients of several batches accumulate here for one step. The loss is divided by their number "
                    "where it is shown, but not before `backward()`, so the sum of the gradients is too large by that "
                    "factor. Divide the loss first.",
                    (
                        Because(shown.at, "the loss is divided here"),
                        Because(step.at, "the optimizer only steps here"),
                    ),
                    confidence="likely",
                    doubt="an optimizer such as Adam, without clipping, does not mind the factor",
                )
                return


def divides_by_size(optimizer: Object) -> bool:
    """Whether an optimizer divides gradients by their own size, or may do so."""
    return optimizer.type not in ("torch.optim.SGD", "torch.optim.ASGD")


def _is_of_no_size(optimizer: Value) -> bool:
    """Whether an optimizer certainly makes steps of the same size, however large the gradients are."""
    is_known = isinstance(optimizer, Object) and optimizer.type != SOME_OPTIMIZER
    return isinstance(optimizer, Object) and is_known and divides_by_size(optimizer)


def _rounds(training: Training, backward: Backward) -> Value | None:
    """How often the innermost loop runs, where that is a number that the program names."""
    loop = training.loops.get(backward.loops[-1]) if len(backward.loops) > 1 else None
    over = loop.over if loop is not None else None
    is_range = isinstance(over, Op) and over.name == "range" and len(over.inputs) == 1
    return over.inputs[0] if isinstance(over, Op) and is_range else None


def _step_behind(training: Training, backward: Backward) -> OptimizerStep | None:
    """The step that comes after the innermost loop, in the loop around it."""
    return next(
        (
            one
            for one in training.events(OptimizerStep)
            if one.loops == backward.loops[:-1] and training.is_after(one, backward)
        ),
        None,
    )


def _is_share_of(shown: Value, loss: Value, times: Value) -> bool:
    """Whether a value is the loss, divided by how often the loop runs."""
    for one in reached([shown], _kept):
        if isinstance(one, Op) and one.name in ("/", "div") and len(one.inputs) == 2:
            whole, number = one.inputs
            return _is_same_number(number, times) and any(inner is loss for inner in reached([whole], _kept))
    return False


def _kept(value: Value) -> tuple[Value, ...]:
    return value.inputs[:1] if isinstance(value, Op) and value.name in _KEEPS else ()


def _is_same_number(one: Value, other: Value) -> bool:
    if isinstance(one, Constant) and isinstance(other, Constant):
        return bool(one.value == other.value != 1)
    return one is other
