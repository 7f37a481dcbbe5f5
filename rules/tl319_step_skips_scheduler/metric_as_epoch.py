"""Schedulers that take a loss for the number of an epoch, as if they were `ReduceLROnPlateau`."""

from __future__ import annotations

from collections.abc import Iterator

from trainlint.facts.ask.flow import made_of
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.events.modules import Built
from trainlint.facts.model.events.steps import SchedulerStep
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Constant, Op, Value
from trainlint.finding import Because, Finding

_MODULE = "torch.optim.lr_scheduler."
_BY_EPOCH = frozenset(
    "StepLR MultiStepLR ExponentialLR CosineAnnealingLR CosineAnnealingWarmRestarts LambdaLR LinearLR PolynomialLR "
    "ConstantLR OneCycleLR CyclicLR".split()
)
"""What computes the rate from the epoch that it is given; `MultiplicativeLR` does not look at it."""

_COUNTS = frozenset("len shape size numel round builtins.round int builtins.int ceil floor".split())


def given_a_metric(training: Training) -> Iterator[Finding]:
    """`scheduler.step(val_loss)` of a scheduler that asks for no metric."""
    steps = training.events(SchedulerStep)
    losses = {one.output.uid: one for one in training.events(LossCall)}
    built = {one.object.uid: one for one in training.events(Built)}
    for event in steps:
        scheduler = event.scheduler
        name = scheduler.type.removeprefix(_MODULE)
        made = built.get(scheduler.uid)
        loss = _loss_in(event.told, losses)
        if name not in _BY_EPOCH or scheduler.definition is not None or made is None or loss is None:
            continue
        if not {*event.guards} <= {*made.guards, *loss.guards}:
            continue  # another kind of scheduler may be meant
        if any(one.at == event.at and one.scheduler.type != scheduler.type for one in steps):
            continue
        yield Finding(
            event.at,
            f"`{name}.step()` takes its argument for the number of the epoch, and is given a loss: the schedule never moves "
            "on, and the learning rate stays at its first value, or follows the loss. Call `step()` without an argument; "
            "only `ReduceLROnPlateau` takes a metric.",
            (
                Because(made.at, "the scheduler is created here"),
                Because(loss.at, "the loss is computed here"),
            ),
            level="warning",
        )


def _loss_in(told: Value | None, losses: dict[int, LossCall]) -> LossCall | None:
    """The loss that what a scheduler is given is made of, where it is no count of something."""
    if told is None or isinstance(told, Constant):
        return None
    inside = made_of(told, lambda op: op.name in _COUNTS)
    return next((losses[one.uid] for one in inside if isinstance(one, Op) and one.uid in losses), None)
