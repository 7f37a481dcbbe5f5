"""Schedulers and gradient scalers that begin a resumed loop as they were created."""

from collections.abc import Iterator

from trainlint.facts.api.classes import AUTOCAST, SCALER
from trainlint.facts.ask.escapes import given_away
from trainlint.facts.ask.precision import castings, may_be_disabled
from trainlint.facts.model.events.modules import StateLoaded
from trainlint.facts.model.events.steps import OptimizerStep, SchedulerStep
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, alternatives

_OF_SCHEDULES = frozenset(
    "step_size gamma milestones T_max eta_min max_lr total_steps epochs steps_per_epoch lr_lambda T_0 T_mult start_factor "
    "end_factor total_iters power pct_start".split()
)
"""Arguments that say how a learning rate changes, and not from where on."""


def schedulers_from_start(training: Training, loop: int) -> Iterator[Object]:
    """The schedulers that only step in a loop, count their steps themselves, and begin with the first one."""
    inside = training.inside(loop, SchedulerStep)
    for one in {step.scheduler.uid: step.scheduler for step in inside}.values():
        steps = [step for step in training.events(SchedulerStep) if step.scheduler is one]
        begins = loop not in one.loops and (is_picked_by_name(one) or not (one.is_open or "?" in one.type))
        is_counting = all(step in inside and step.told is None for step in steps)
        restored = any(one in alternatives(event.target) for event in training.events(StateLoaded))
        is_set = "last_epoch" in one.options or "last_epoch" in one.attributes or _has_position(one)
        is_left_alone = not (restored or is_set or _escapes(training, one))
        if begins and is_counting and is_left_alone and not _goes_on_by_itself(training, one):
            yield one


def is_picked_by_name(scheduler: Object) -> bool:
    """Whether its class is one of torch's schedulers, by a name that is not known: `getattr(lr_scheduler, name)(…)`."""
    return scheduler.type == "torch.optim.lr_scheduler.?" and not scheduler.told_by


def _goes_on_by_itself(training: Training, scheduler: Object) -> bool:
    """Whether it only multiplies the rate that its optimizer has, and the optimizer's state, which holds the rate, is
    restored."""
    restored = {one.uid for event in training.events(StateLoaded) for one in alternatives(event.target)}
    scheduled = {one.uid for one in alternatives(scheduler.argument(0, "optimizer"))}
    return scheduler.type.endswith(".ExponentialLR") and not restored.isdisjoint(scheduled)


def scalers_from_start(training: Training, loop: int) -> Iterator[Object]:
    """The gradient scalers that a loop uses and that begin with their first scale, which float16 alone makes too large."""
    if _never_in_half(training):
        return
    restored = {one.uid for event in training.events(StateLoaded) for one in alternatives(event.target)}
    used = {step.scaler.uid: step.scaler for step in training.inside(loop, OptimizerStep) if step.scaler}
    for one in used.values():
        begins = one.type == SCALER and loop not in one.loops and not one.is_open and not may_be_disabled(one)
        if (
            begins
            and one.uid not in restored
            and "init_scale" not in one.options
            and not _escapes(training, one)
        ):
            yield one


def _never_in_half(training: Training) -> bool:
    """Whether all that autocast computes in is bfloat16, or float32."""
    regions = [one for one in training.objects if one.is_a(AUTOCAST)]
    types = {one.dtype for region in regions for one in castings((region,))}
    return bool(types) and types.isdisjoint(("float16", ""))


def _has_position(scheduler: Object) -> bool:
    """Whether an argument beyond the usual ones, or one that is not known, may be the last epoch."""
    usual = 3 if scheduler.type.endswith(("StepLR", "CosineAnnealingLR")) else 2
    return len(scheduler.args) > usual or any(
        name not in _OF_SCHEDULES and name != "optimizer" for name in scheduler.options
    )


def _escapes(training: Training, helper: Object) -> bool:
    return any(one is helper for one in given_away(training))
