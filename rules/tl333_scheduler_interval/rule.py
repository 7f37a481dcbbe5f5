from collections.abc import Iterator

from trainlint.facts.api.classes import LOADER
from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.schedules import Schedule, schedules, unread_schedules
from trainlint.facts.model.events.frameworks import Configured
from trainlint.facts.model.values import Constant, Object, Op, Value, alternatives, constant
from trainlint.finding import Finding
from trainlint.rule import rule

from .epochs import counts_epochs

_COUNTS = frozenset(("estimated_stepping_batches", "num_training_batches"))
"""What a framework calls the number of steps."""
_DIVISIONS = frozenset(("/", "//", "div"))


@rule(Configured, level="warning", by="S")
def check(configured: Configured) -> Iterator[Finding]:
    if configured.automatic is not True:
        return
    yield from _never_moved(configured)
    done = set()
    for one in schedules(configured.returns):
        scheduler = one.scheduler
        if not isinstance(scheduler, Object) or scheduler.at is None or scheduler.uid in done or one.is_open:
            continue
        reason = _reason(one, scheduler)
        if reason is not None and one.interval in (None, "epoch"):
            done.add(scheduler.uid)
            name = scheduler.type.rpartition(".")[2]
            yield Finding(
                scheduler.at,
                f"{reason}, and the framework moves it once per epoch: the learning rate only gets through a small part "
                f'of `{name}`. Return it as `{{"scheduler": ..., "interval": "step"}}`.',
            )
        elif why := counts_epochs(one):
            done.add(scheduler.uid)
            yield Finding(
                scheduler.at,
                f'In this `{scheduler.type.rpartition(".")[2]}`, {why}, and by `"interval": "step"` the framework moves it on every '
                'batch: it is through long before training is. Leave out `"interval"`, or count batches.',
                confidence="likely",
                doubt="an epoch may have a few batches only",
            )


def _never_moved(configured: Configured) -> Iterator[Finding]:
    for one in unread_schedules(configured.returns):
        made = [each.at for each in alternatives(one.scheduler) if isinstance(each, Object)]
        yield Finding(
            next((at for at in made if at is not None), None) or configured.at,
            f'This schedule is returned as `"{one.key}"`, which the framework does not read, so it never moves and the '
            'learning rate stays at its first value. Return it as `"lr_scheduler"`.',
        )


def _reason(one: Schedule, scheduler: Object) -> str | None:
    """Why a schedule certainly counts steps."""
    if one.misplaced == "step":
        return '`"interval": "step"` stands beside the schedule, where it is not read'
    if scheduler.is_open:
        return None
    if scheduler.type.endswith(".OneCycleLR"):
        each = scheduler.argument(4, "steps_per_epoch")
        if each is not None and scheduler.argument(2, "total_steps") is None and constant(each) != 1:
            known = constant(each) is not None or _counts_steps(each)
            return "This schedule is as long as all steps together" if known else None
    told = [*scheduler.args[1:], *(value for name, value in scheduler.options.items() if name != "optimizer")]
    return "This schedule counts steps" if any(map(_counts_steps, told)) else None


def _counts_steps(value: Value) -> bool:
    """Whether a number is one of steps, or a part of that."""
    every = list(reached([value], lambda one: () if isinstance(one, Object) else one.parts()))
    divided = [one for one in every if isinstance(one, Op) and one.name in _DIVISIONS]
    return any(map(_is_count, every)) and all(map(_is_by_accumulation, divided))


def _is_count(value: Value) -> bool:
    match value:
        case Op(name="getattr", options={"name": Constant(value=str(name))}):
            return name in _COUNTS
        case Op(name="len", inputs=(inner, *_)):
            return (isinstance(inner, Object) and inner.is_a(LOADER)) or _is_loader_of_module(inner)
    return False


def _is_loader_of_module(value: Value) -> bool:
    """`self.train_dataloader()`, `self.trainer.datamodule.train_dataloader()`, `self.trainer.train_dataloader`."""
    return isinstance(value, Op) and (
        "train_dataloader" in value.text
        or any(
            isinstance(one, Constant) and one.value == "train_dataloader" for one in value.options.values()
        )
    )


def _is_by_accumulation(division: Op) -> bool:
    by = division.inputs[1] if len(division.inputs) == 2 else None
    match by:
        case Constant():
            return True
        case Op(name="getattr", options={"name": Constant(value=str(name))}):
            return "accumulat" in name or "devices" in name
    return False
