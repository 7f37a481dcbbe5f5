import re
from collections.abc import Iterator

from trainlint.facts.api.frameworks import AUTOMATIC
from trainlint.facts.ask.schedules import schedules
from trainlint.facts.model.events.event import Escape
from trainlint.facts.model.events.frameworks import Configured, StepMethod
from trainlint.facts.model.events.steps import Backward, OptimizerStep, SchedulerStep
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Constant, Object, Op, Value, alternatives, constant
from trainlint.finding import Because, Finding
from trainlint.rule import rule

_BY_HAND = frozenset(("manual_backward", "backward", "step", "optimizers", "optimizer_step", AUTOMATIC))
_SCHEDULE = re.compile(r"sched|^sch$|lr_", re.IGNORECASE)


@rule(Training, level="error", by="S")
def check(training: Training) -> Iterator[Finding]:
    for method in training.events(StepMethod):
        if method.automatic is True:
            yield from _twice(training, method)
        elif method.automatic is False:
            yield from _never(training, method)
    for configured in training.events(Configured):
        yield from _never_scheduled(configured)


def _twice(training: Training, method: StepMethod) -> Iterator[Finding]:
    """What the program does beside the framework, which does it too."""
    for schedule in training.inside(method.loops[-1], SchedulerStep):
        if _is_of(schedule.scheduler, method):
            yield Finding(
                schedule.at,
                "The framework steps this schedule itself while `automatic_optimization` is on, so here it moves once "
                'more for each batch. Remove this call, and set its `"interval"` in `configure_optimizers`.',
            )
    if all(isinstance(one, Constant) and one.value is None for one in alternatives(method.returns)):
        return
    backwards = [one for one in training.inside(method.loops[-1], Backward) if one.at != method.at]
    for step in training.inside(method.loops[-1], OptimizerStep):
        if not any(_is_of(one, method) for one in alternatives(step.optimizer)):
            continue
        before = [one for one in backwards if training.is_after(step, one)]
        if not before:
            yield Finding(
                step.at,
                "The framework runs backward and steps after `training_step` has returned its loss, so this step "
                "applies the gradients of an earlier batch once more. Remove it, or set "
                "`self.automatic_optimization = False` and do both by hand.",
                _returned(method),
            )
        elif constant(before[-1].retains) is True:
            yield Finding(
                step.at,
                "This step uses the gradients of the loss, and the framework then runs backward on the returned loss "
                "and steps again: each batch updates the model twice. Set `self.automatic_optimization = False`, or "
                "leave both to the framework.",
                (Because(before[-1].at, "the graph is kept for a second backward here"), *_returned(method)),
            )


def _returned(method: StepMethod) -> tuple[Because, ...]:
    loss = _loss(method.returns)
    return (
        (Because(loss.at, "the loss is returned to the framework"),) if loss is not None and loss.at else ()
    )


def _loss(returns: Value) -> Op | None:
    return next((one for one in alternatives(returns) if isinstance(one, Op) and one.at is not None), None)


def _never(training: Training, method: StepMethod) -> Iterator[Finding]:
    """A loss that is returned to a framework which does nothing with it."""
    loss = _loss(method.returns)
    by_hand = method.names & (_BY_HAND - {AUTOMATIC})
    if loss is None or loss.at is None or by_hand or _handed_on(training, method):
        return
    yield Finding(
        loss.at,
        "`automatic_optimization` is off, so nobody runs backward on this loss or steps: the model is never trained. "
        "Call `self.manual_backward(loss)`, and `zero_grad()` and `step()` of `self.optimizers()`, or leave it on.",
    )


def _handed_on(training: Training, method: StepMethod) -> bool:
    """Whether unknown code gets the module."""
    return any(
        method.receiver is one
        for escape in training.inside(method.loops[-1], Escape)
        for value in escape.values
        for one in alternatives(value)
    )


def _never_scheduled(configured: Configured) -> Iterator[Finding]:
    """A schedule that only the program could step, and that nothing of it names."""
    if configured.automatic is not False or any(map(_SCHEDULE.search, configured.working)):
        return
    if not configured.names & _BY_HAND:
        return
    for one in schedules(configured.returns):
        if isinstance(one.scheduler, Object) and one.scheduler.at is not None:
            yield Finding(
                one.scheduler.at,
                "`automatic_optimization` is off, so the framework does not step this schedule, and nothing in the "
                "class does: the learning rate stays what it was. Call `self.lr_schedulers().step()`.",
            )


def _is_of(value: Value, method: StepMethod) -> bool:
    """Whether an optimizer or a schedule is the one that the framework keeps for the module."""
    return (
        isinstance(value, Object)
        and "?" in value.type
        and any(held is method.receiver for held in value.args[:1])
    )
