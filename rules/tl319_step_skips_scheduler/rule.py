from collections.abc import Iterator

from trainlint.facts.api.classes import SCHEDULER
from trainlint.facts.ask.contents import handed_over
from trainlint.facts.ask.guards import ask_what_it_is
from trainlint.facts.model.events.event import Escape, Returned
from trainlint.facts.model.events.modules import Built
from trainlint.facts.model.events.steps import OptimizerStep, SchedulerStep
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Constant, Object, Op, Value, alternatives
from trainlint.finding import Because, Finding
from trainlint.rule import rule

from .discarded import of_discarded
from .metric_as_epoch import given_a_metric
from .of_another import of_another
from .per_batch import falls_within_epochs

EPOCHS = {
    "CosineAnnealingLR": (1, "T_max"),
    "LinearLR": (3, "total_iters"),
    "PolynomialLR": (1, "total_iters"),
}
"""Schedules with an end, and the argument that says when it comes."""


@rule(Training, level="info", confidence="likely", refutable=False, by="S", absence=True)
def check(training: Training) -> Iterator[Finding]:
    yield from _never_stepped(training)
    yield from _stepped_too_often(training)
    yield from falls_within_epochs(training)
    yield from of_discarded(training)
    yield from given_a_metric(training)
    yield from of_another(training)


def _never_stepped(training: Training) -> Iterator[Finding]:
    steps = [
        one for step in training.events(OptimizerStep) if step.loops for one in alternatives(step.optimizer)
    ]
    if not steps or not all(isinstance(one, Object) for one in steps):
        return
    stepped = {one.uid for one in steps}
    ruled = {  # the rates of these change, by whichever scheduler
        one.uid for event in training.events(SchedulerStep) for one in alternatives(event.optimizer)
    }
    busy = {event.scheduler.uid for event in training.events(SchedulerStep)} | _given_away(training)
    for built in training.events(Built):
        scheduler = built.object
        optimizers = {one.uid for one in alternatives(scheduler.argument(0, "optimizer"))}
        is_idle = scheduler.is_a(SCHEDULER) and scheduler.uid not in busy
        if is_idle and optimizers & stepped and not optimizers & ruled:
            yield Finding(
                built.at,
                f"This `{scheduler.type.rpartition('.')[2]}` never steps, so the learning rate stays at its first value. "
                "Call its `step()` after `optimizer.step()`.",
            )


def _given_away(training: Training) -> set[int]:
    """Numbers of schedulers that other code may step: objects that keep it, unknown code, callers that are not seen."""
    values = [value for escape in training.events(Escape) for value in escape.values]
    values += [value for one in training.objects for value in (*one.args, *one.options.values())]
    values += [event.value for event in training.events(Returned)]
    values += [value for one in training.objects for value in one.attributes.values()]
    return {
        inner.uid
        for value in values
        for one in handed_over(value)
        for inner in (one, *(_held(one) if isinstance(one, Object) else one.parts()))
    }


def _held(holder: Object) -> Iterator[Value]:
    for value in holder.attributes.values():
        yield from (value, *value.parts())


def _stepped_too_often(training: Training) -> Iterator[Finding]:
    for event in training.events(SchedulerStep):
        argument = EPOCHS.get(event.scheduler.type.rpartition(".")[2])
        if argument is None or len(event.loops) < 2 or event.told is not None:
            continue
        if ask_what_it_is(event.guards, event.scheduler):
            continue
        end = event.scheduler.argument(*argument)
        around = [training.loops[number] for number in event.loops[:-1]]
        epochs = next((one for one in around if end is not None and _counts_to(one.over, end)), None)
        if epochs is not None:
            yield Finding(
                event.at,
                f"This scheduler steps on every batch, but `{argument[1]}` is the number of epochs, so the "
                f"schedule ends long before training does. Step once per epoch, or set `{argument[1]}` to "
                "the number of batches.",
                (Because(epochs.at, "number of epochs"),),
            )


def _counts_to(over: Value | None, end: Value) -> bool:
    """Whether a loop is over a range that ends at a value."""
    if not isinstance(over, Op) or over.name != "range":
        return False
    last = over.inputs[min(1, len(over.inputs) - 1)]
    if isinstance(last, Constant) and isinstance(end, Constant):
        return last.value == end.value and last.at == end.at
    return last is end
