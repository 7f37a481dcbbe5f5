"""Two like schedules of one optimizer, where one was meant for the optimizer beside it."""

from __future__ import annotations

from collections.abc import Iterator

from trainlint.facts.model.events.modules import Built
from trainlint.facts.model.events.steps import OptimizerStep, SchedulerStep
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Constant, Object, Value, alternatives, compatible
from trainlint.finding import Because, Finding

_MODULE = "torch.optim.lr_scheduler."


def of_another(training: Training) -> Iterator[Finding]:
    """`sched_a = StepLR(opt_b, 5)` and `sched_b = StepLR(opt_b, 5)`, which step side by side, while `opt_a` has none."""
    built = {one.object.uid: one for one in training.events(Built)}
    told: set[int] = set()
    for one, other in _beside(training):
        if other.uid in told or not _are_alike(one, other):
            continue
        made, again = built.get(one.uid), built.get(other.uid)
        if made is None or again is None or not compatible(made.guards, again.guards):
            continue
        left = _without_schedule(training, one.argument(0, "optimizer"), again, list(built.values()))
        if left is not None and left.at is not None:
            told.add(other.uid)
            yield Finding(
                again.at,
                "This optimizer has a like schedule already, and both step: its learning rate changes twice as fast, and that of "
                f"the `{left.type.rpartition('.')[2]}` beside it never. Pass each scheduler its own optimizer.",
                (
                    Because(made.at, "its first schedule is created here"),
                    Because(left.at, "the optimizer without a schedule is created here"),
                ),
                level="warning",
            )


def _beside(training: Training) -> Iterator[tuple[Object, Object]]:
    """The schedulers of one class and one optimizer that step in the same loop, in pairs, each with the first that was made."""
    groups: dict[object, dict[int, Object]] = {}
    for step in training.events(SchedulerStep):
        optimizer = step.scheduler.argument(0, "optimizer")
        if optimizer is not None:
            groups.setdefault((step.loops, optimizer.uid, step.scheduler.type), {})[step.scheduler.uid] = (
                step.scheduler
            )
    for several in groups.values():
        first, *others = (several[number] for number in sorted(several))
        yield from ((first, other) for other in others)


def _are_alike(one: Object, other: Object) -> bool:
    """Whether two schedulers are different ones of one class, of the same optimizer, and are told the same."""
    if one is other or one.type != other.type or not one.type.startswith(_MODULE):
        return False
    if one.is_open or other.is_open or one.definition is not None:
        return False
    if len(one.args) != len(other.args) or one.options.keys() != other.options.keys():
        return False
    pairs = [
        *zip(one.args, other.args, strict=True),
        *((one.options[key], other.options[key]) for key in one.options),
    ]
    return all(_is_same(first, second) for first, second in pairs)


def _is_same(one: Value, other: Value) -> bool:
    if isinstance(one, Constant) and isinstance(other, Constant):
        return bool(one.value == other.value)
    return one is other


def _without_schedule(
    training: Training, optimizer: Value | None, made: Built, built: list[Built]
) -> Object | None:
    """An optimizer of the same class that steps beside another one, and of which no scheduler is made."""
    if not isinstance(optimizer, Object):
        return None
    ruled = [
        one
        for event in built
        if compatible(event.guards, made.guards)
        for one in alternatives(event.object.argument(0, "optimizer"))
    ]
    steps = training.events(OptimizerStep)
    own = {one.loops for one in steps if one.optimizer is optimizer}
    beside = (one.optimizer for one in steps if one.loops in own)
    others = (one for one in beside if isinstance(one, Object) and one.type == optimizer.type)
    return next((one for one in others if all(one is not known for known in (optimizer, *ruled))), None)
