from collections.abc import Iterator, Sequence
from typing import TypeVar

from trainlint.facts.api.frameworks import ACCUMULATES, COMPLETE
from trainlint.facts.ask.guards import counting, phase
from trainlint.facts.ask.helpers import (
    batches_of_step,
    certain,
    counting_helpers,
    handed_to,
    has_region,
    is_divided,
    is_inside,
    is_one,
)
from trainlint.facts.model.events.event import Event
from trainlint.facts.model.events.steps import Backward, Clip, OptimizerStep, ZeroGrad
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, alternatives, compatible
from trainlint.finding import Because, Finding
from trainlint.rule import rule

from .by_runner import divided_by_both

_E = TypeVar("_E", bound=Event)


@rule(Training, level="error", by="S")
def check(training: Training) -> Iterator[Finding]:
    yield from divided_by_both(training)
    for helper in counting_helpers(training):
        if is_one(batches_of_step(helper)):
            continue
        handed = handed_to(training, helper).numbers
        backwards = [one for one in training.events(Backward) if one.by is helper]
        steps = [
            one
            for one in training.events(OptimizerStep)
            if one.loops and any(found.uid in handed for found in alternatives(one.optimizer))
        ]
        if not has_region(training, helper):
            yield from _never_waits(training, helper, backwards, steps)
        yield from _counted_twice(helper, steps)
        yield from _divided_twice(training, helper, backwards, steps)
        yield from _cleared_too_soon(training, helper, backwards, steps)


def _never_waits(
    training: Training, helper: Object, backwards: list[Backward], steps: list[OptimizerStep]
) -> Iterator[Finding]:
    """Steps of every batch, where several are to make a step."""
    for step in steps:
        before = next(
            (one for one in backwards if one.loops == step.loops and compatible(one.guards, step.guards)),
            None,
        )
        if before is None or training.inside_loop(step):
            continue
        number = certain(batches_of_step(helper))
        each = f"1/{number}" if number is not None else "a part"
        yield Finding(
            step.at,
            "The batches of a step are only counted inside `with accelerator.accumulate(model):`, and this loop has "
            f"none: the optimizer steps on every batch, with {each} of its gradient. Put the iteration into that "
            "context.",
            (
                *_made(helper, "this asks for several batches for each step"),
                Because(before.at, "the loss is divided by their number here"),
            ),
            level=None if number is not None else "warning",
        )


def _counted_twice(helper: Object, steps: list[OptimizerStep]) -> Iterator[Finding]:
    """Steps that both the context and a condition of the program's leave out."""
    for step in steps:
        if (
            not is_inside(step, helper, ACCUMULATES)
            or not counting(step.guards)
            or COMPLETE in str(step.guards)
        ):
            continue
        when, count = phase(step.guards)
        number = certain(batches_of_step(helper))
        if when == "unknown" or (number is not None and count[0] == "constant" and count[1] != repr(number)):
            continue
        if when == "first":
            yield Finding(
                step.at,
                "This condition holds in the first of the batches that make a step, and the context lets the "
                "optimizer step in the last: the two never agree, and the model stays what it was. Remove the "
                "condition: `accumulate` leaves out the other steps itself.",
                _made(helper, "this counts the batches"),
            )
        else:
            yield Finding(
                step.at,
                "This condition leaves out the step after the last, incomplete group of batches of an epoch, which "
                "`accumulate` would take: their gradients run into the next epoch. Remove the condition: "
                "`accumulate` leaves out the other steps itself.",
                _made(helper, "this counts the batches"),
                level="warning",
            )


def _divided_twice(
    training: Training, helper: Object, backwards: list[Backward], steps: list[OptimizerStep]
) -> Iterator[Finding]:
    """Losses that the program divides by the number of batches, and the helper again."""
    for backward in backwards:
        division = is_divided(backward.loss, helper)
        if division is None or division.at is None:
            continue
        number = certain(batches_of_step(helper))
        adaptive = all(_adapts(step) for step in steps) and not training.events(Clip)
        share = f"1/{number * number}" if number is not None else "1/n²"
        yield Finding(
            division.at,
            "`accelerator.backward` divides the loss by the number of batches of a step itself, so this division makes "
            f"{share} of each batch's gradient count. Remove it.",
            (Because(backward.at, "the loss is divided again here"),),
            level="warning" if adaptive or number is None else None,
        )


def _cleared_too_soon(
    training: Training, helper: Object, backwards: list[Backward], steps: list[OptimizerStep]
) -> Iterator[Finding]:
    """Gradients that are cleared between the earlier batches of a step and the last: the helper only lets `zero_grad` through
    in the last, and there the others are waiting."""
    number = certain(batches_of_step(helper))
    for cleared in training.events(ZeroGrad):
        if not is_inside(cleared, helper, ACCUMULATES):
            continue
        backward = _next(training, cleared, backwards)
        step = _next(training, cleared, [one for one in steps if one.optimizer is cleared.target])
        if backward is None or step is None or not training.is_after(step, backward):
            continue
        yield Finding(
            cleared.at,
            "A prepared optimizer clears its gradients only in the last of the batches that make a step. In front of "
            "`backward`, that throws away the gradients of all the others, so each step uses one batch. Call `zero_grad` "
            "after `step()`.",
            (
                *_made(helper, "this asks for several batches for each step"),
                Because(backward.at, "the gradients of the batch are computed only here"),
            ),
            level=None if number is not None else "warning",
        )


def _next(training: Training, cleared: ZeroGrad, events: Sequence[_E]) -> _E | None:
    """The first of some events that follows in the same iteration, whenever gradients are cleared in it."""
    alike = [one for one in events if one.loops == cleared.loops and one.guards == cleared.guards]
    return next((one for one in alike if training.is_after(one, cleared)), None)


def _adapts(step: OptimizerStep) -> bool:
    """Whether the size of gradients makes no difference to an optimizer."""
    return any(
        isinstance(one, Object)
        and one.type.rpartition(".")[2].startswith(("Adam", "NAdam", "RAdam", "Adafactor"))
        for one in alternatives(step.optimizer)
    )


def _made(helper: Object, what: str) -> tuple[Because, ...]:
    return (Because(helper.at, what),) if helper.at is not None else ()
