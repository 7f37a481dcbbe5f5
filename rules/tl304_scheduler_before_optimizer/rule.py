from collections.abc import Iterator

from trainlint.facts.ask.evidence import seen_optimizer
from trainlint.facts.ask.interference import may_touch
from trainlint.facts.ask.stepped import optimizer_of
from trainlint.facts.model.events.steps import OptimizerStep, SchedulerStep
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Constant, Object, Unknown, Value, alternatives
from trainlint.finding import Because, Finding
from trainlint.rule import rule

BY_METRIC = "torch.optim.lr_scheduler.ReduceLROnPlateau"


@rule(Training, level="warning")
def check(training: Training) -> Iterator[Finding]:
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
            later = next((one for one in run[position:] if _follows(one, event, set_by[id(event)])), None)
            if isinstance(later, OptimizerStep):
                early.setdefault(id(event), (event, later))
    for number, (event, step) in early.items():
        if number in fine or _is_told(event) or event.scheduler.is_a(BY_METRIC):
            continue
        seen = seen_optimizer(training, step.optimizer)
        if (seen is None or not seen.skipped) and not may_touch(training, set_by[number], event.loops[0]):
            yield Finding(
                event.at,
                f"{_name(event.scheduler)} steps before the first `optimizer.step()`, so "
                "the first learning rate of the schedule is skipped and all others come one step early. Call "
                "`scheduler.step()` after `optimizer.step()`.",
                (Because(step.at, "the optimizer only steps here"),),
            )


def _name(scheduler: Object) -> str:
    last = scheduler.type.rpartition(".")[2]
    return "This scheduler" if last == "?" else f"`{last}`"


def _follows(step: object, event: SchedulerStep, optimizer: Value) -> bool:
    """Whether the optimizer of a scheduler steps in the same loop: else a resumed schedule may only be advanced."""
    return (
        isinstance(step, OptimizerStep)
        and bool(event.loops)
        and event.loops[-1] in step.loops
        and _same(step.optimizer, optimizer)
        and (not isinstance(event.optimizer, Unknown) or _are_near(step, event))
    )


def _are_near(step: OptimizerStep, event: SchedulerStep) -> bool:
    """Whether one happens in the function of the other, or in what that calls: what neither says, this may."""
    depth = min(len(step.calls), len(event.calls))
    return step.calls[:depth] == event.calls[:depth]


def _same(one: Value, other: Value) -> bool:
    return {value.uid for value in alternatives(one)} == {value.uid for value in alternatives(other)}


def _may_be_same(one: Value, other: Value) -> bool:
    return bool({value.uid for value in alternatives(one)} & {value.uid for value in alternatives(other)})


def _is_told(event: SchedulerStep) -> bool:
    """Whether it gets the number of an epoch, and sets the rate of that epoch."""
    return event.told is not None and not (isinstance(event.told, Constant) and event.told.value is None)
