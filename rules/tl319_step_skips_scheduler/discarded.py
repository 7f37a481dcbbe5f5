"""Schedulers that go on with an optimizer that takes no steps any more."""

from __future__ import annotations

from collections.abc import Iterator

from trainlint.facts.api.classes import OPTIMIZER, SOME_OPTIMIZER
from trainlint.facts.ask.asking import reached
from trainlint.facts.model.events.steps import OptimizerStep, SchedulerStep
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, Value, alternatives
from trainlint.finding import Because, Finding


def of_discarded(training: Training) -> Iterator[Finding]:
    """A scheduler steps beside an optimizer that came after its own, which no longer steps."""
    events = training.events(SchedulerStep)
    for event in events:
        stepped = _stepped(training, event)
        own = {one.uid: one for one in alternatives(event.optimizer)}
        first = next(iter(own.values()), None)
        if not isinstance(first, Object) or not first.is_a(OPTIMIZER):
            continue  # such as a schedule that a framework keeps
        if not stepped or _goes_on(training, event, own):
            continue
        ruled = {one.uid for other in events for one in alternatives(other.optimizer)}
        later = stepped[0]
        is_successor = all(
            isinstance(one, Object)
            and one.type != SOME_OPTIMIZER
            and one.uid not in ruled
            and one.uid > max(own)
            and not _wraps(one, own)
            for one in stepped
        )
        if is_successor and isinstance(later, Object) and later.at is not None:
            yield Finding(
                event.at,
                f"This scheduler sets the learning rate of an optimizer that takes no steps any more, and that of the "
                f"`{later.type.rpartition('.')[2]}` which has replaced it never changes. Create a scheduler for the new "
                "optimizer.",
                (
                    Because(later.at, "the optimizer that steps is created here"),
                    *((Because(first.at, "the one of the scheduler here"),) if first.at else ()),
                ),
                level="warning",
            )


def _stepped(training: Training, event: SchedulerStep) -> list[Value]:
    """The optimizers that step in the innermost loop around a scheduler's step."""
    steps = training.inside(event.loops[-1], OptimizerStep) if event.loops else []
    return [one for step in steps for one in alternatives(step.optimizer)]


def _goes_on(training: Training, event: SchedulerStep, own: dict[int, Value]) -> bool:
    """Whether a scheduler's own optimizer may take a step together with it, or later."""
    return any(
        one.uid in own and (set(step.loops) & set(event.loops) or training.is_after(step, event))
        for step in training.events(OptimizerStep)
        for one in alternatives(step.optimizer)
    )


def _wraps(optimizer: Object, own: dict[int, Value]) -> bool:
    """Whether an optimizer may step another one."""
    return any(one.uid in own for one in reached([*optimizer.args, *optimizer.options.values()]))
