"""Schedules whose numbers are so small that they count epochs, and that step on every batch."""

from __future__ import annotations

from collections.abc import Iterator

from trainlint.facts.ask.guards import ask_what_it_is
from trainlint.facts.model.events.steps import Backward, OptimizerStep, SchedulerStep
from trainlint.facts.model.nodes import Loop
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Constant, Items, Object, Op, Value
from trainlint.finding import Because, Finding

_OF_EPOCHS = 30
"""Where the number of epochs is not in sight: what falls this early, falls in the first of them."""

_FASTEST = 0.95
"""A factor on every batch below which nothing is left of the rate after some hundreds of batches."""


def falls_within_epochs(training: Training) -> Iterator[Finding]:
    """A schedule of steps that is through with most of them in the first epoch."""
    for event in training.events(SchedulerStep):
        if ask_what_it_is(event.guards, event.scheduler):
            continue
        epochs = _epochs_around(training, event)
        said = _counted(event.scheduler, _length(epochs)) if epochs is not None and event.told is None else ""
        if epochs is not None and said:
            yield Finding(
                event.at,
                f"This `{event.scheduler.type.rpartition('.')[2]}` steps on every batch, but {said}, so the learning rate "
                "falls to almost nothing within the first epochs. Call its `step()` once per epoch, behind the loop over "
                "the batches.",
                (Because(epochs.at, "the loop over the epochs"),),
                level="warning",
                confidence="likely",
                doubt="an epoch may have a few batches only",
            )


def _epochs_around(training: Training, event: SchedulerStep) -> Loop | None:
    """The loop over epochs, where a scheduler that was made before it steps with the optimizer on every batch."""
    around = [one for one in event.loops if one not in event.scheduler.loops]
    if len(around) < 2:
        return None
    batches, epochs = training.loops.get(around[-1]), training.loops.get(around[-2])
    same = [
        one
        for kind in (Backward, OptimizerStep)
        for one in training.inside(around[-1], kind)
        if one.loops == event.loops
    ]
    if batches is None or epochs is None or _is_range(batches.over) or not _is_range(epochs.over):
        return None
    return epochs if any(isinstance(one, OptimizerStep) for one in same) and len(same) > 1 else None


def _is_range(over: Value | None) -> bool:
    return isinstance(over, Op) and over.name == "range"


def _length(loop: Loop | None) -> float | None:
    """How many epochs there are, as far as the program says."""
    over = loop.over if loop is not None else None
    last = over.inputs[min(1, len(over.inputs) - 1)] if isinstance(over, Op) and over.inputs else None
    return _number(last)


def _number(value: Value | None) -> float | None:
    is_number = isinstance(value, Constant) and isinstance(value.value, (int, float))
    return float(value.value) if isinstance(value, Constant) and is_number else None


def _counted(scheduler: Object, epochs: float | None) -> str:
    """What says that the numbers of a schedule are epochs; empty where they may be batches."""
    most = epochs if epochs is not None else _OF_EPOCHS
    match scheduler.type.rpartition(".")[2]:
        case "StepLR":
            size = _number(scheduler.argument(1, "step_size"))
            return (
                f"its `step_size={size:g}` looks like epochs"
                if size is not None and 1 <= size <= most
                else ""
            )
        case "MultiStepLR":
            listed = scheduler.argument(1, "milestones")
            numbers = [_number(one) for one in listed.items] if isinstance(listed, Items) else []
            known = [one for one in numbers if one is not None]
            is_early = known and len(known) == len(numbers) and max(known) <= most
            return "its `milestones` look like epochs" if is_early else ""
        case "ExponentialLR":
            factor = _number(scheduler.argument(1, "gamma"))
            return (
                f"its `gamma={factor:g}` is too strong for that"
                if factor is not None and factor <= _FASTEST
                else ""
            )
    return ""
