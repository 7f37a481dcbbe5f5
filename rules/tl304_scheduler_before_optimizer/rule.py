from collections.abc import Iterator

from trainlint.facts.ask.evidence import seen_optimizer
from trainlint.facts.ask.interference import may_touch
from trainlint.facts.ask.stepped import optimizer_of
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.events.steps import Backward, OptimizerStep, SchedulerStep
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Constant, Object, Unknown, Value, alternatives
from trainlint.finding import Because, Finding, Versions
from trainlint.rule import rule

_OTHER_ORDER = Versions(since=(1, 1), gone=(1, 1))
"""Before torch 1.1, a schedule was stepped at the start of an epoch."""

BY_METRIC = "torch.optim.lr_scheduler.ReduceLROnPlateau"


@rule(Training, level="warning", confidence="likely")
def check(training: Training) -> Iterator[Finding]:
    if not training.events(Backward) and not training.events(Forward):
        return  # nothing is trained: a schedule is only looked at
    early: dict[int, tuple[SchedulerStep, OptimizerStep]] = {}
    set_by = {id(one): optimizer_of(training, one) for one in training.events(SchedulerStep)}
    fine: set[int] = set()
    for run in training.runs(OptimizerStep, SchedulerStep):
        judged: set[int] = set()
        for position, event in enumerate(run):
            if not isinstance(event, SchedulerStep) or id(event) in judged:
                continue
            judged.add(id(event))
            if any(
                isinstance(one, OptimizerStep) and _may_be_same(one.optimizer, set_by[id(event)])
                for one in run[:position]
            ):
                fine.add(id(event))
                continue
            later = next(
                (one for one in run[position:] if _follows(training, one, event, set_by[id(event)])), None
            )
            if isinstance(later, OptimizerStep):
                early.setdefault(id(event), (event, later))
    for number, (event, step) in early.items():
        if number in fine or _is_told(event) or event.scheduler.is_a(BY_METRIC):
            continue
        seen = seen_optimizer(training, step.optimizer)
        around = event.loops[0] if event.loops else None
        is_later = seen is not None and (seen.skipped or seen.before)
        if not is_later and not may_touch(training, set_by[number], around):
            yield Finding(
                event.at,
                f"{_name(event.scheduler)} steps before the first `optimizer.step()`, so "
                "the first learning rate of the schedule is skipped and all others come one step early. Call "
                "`scheduler.step()` after `optimizer.step()`.",
                (Because(step.at, "the optimizer only steps here"),),
                confidence=None if event.loops else "likely",
                doubt="" if event.loops else f"nobody in sight calls `{training.name}`",
                torch=_OTHER_ORDER,
            )


def _name(scheduler: Object) -> str:
    last = scheduler.type.rpartition(".")[2]
    return "This scheduler" if last == "?" else f"`{last}`"


def _follows(training: Training, step: object, event: SchedulerStep, optimizer: Value) -> bool:
    """Whether the optimizer of a scheduler steps in the same loop, or in a function that is one iteration: else a resumed
    schedule may only be advanced."""
    return (
        isinstance(step, OptimizerStep)
        and (event.loops[-1] in step.loops if event.loops else _is_one_iteration(training, event, step))
        and _is_one_of(step.optimizer, optimizer)
        and (not isinstance(event.optimizer, Unknown) or _are_near(step, event))
    )


def _is_one_iteration(training: Training, event: SchedulerStep, step: OptimizerStep) -> bool:
    """Whether a function that nobody in sight calls runs backward, and both steps after it, or the scheduler first."""
    return (
        training.entry == "function"
        and not step.loops
        and event.calls == step.calls
        and any(not one.loops and training.is_after(step, one) for one in training.events(Backward))
    )


def _are_near(step: OptimizerStep, event: SchedulerStep) -> bool:
    """Whether one happens in the function of the other, or in what that calls: what neither says, this may."""
    depth = min(len(step.calls), len(event.calls))
    return step.calls[:depth] == event.calls[:depth]


def _is_one_of(one: Value, other: Value) -> bool:
    """Whether an optimizer is the one of a scheduler, in whichever of several ways that was made."""
    return {value.uid for value in alternatives(one)} <= {value.uid for value in alternatives(other)}


def _may_be_same(one: Value, other: Value) -> bool:
    return bool({value.uid for value in alternatives(one)} & {value.uid for value in alternatives(other)})


def _is_told(event: SchedulerStep) -> bool:
    """Whether it gets the number of an epoch, and sets the rate of that epoch."""
    return event.told is not None and not (isinstance(event.told, Constant) and event.told.value is None)
