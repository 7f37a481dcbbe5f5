from collections.abc import Iterator

from trainlint.facts.api.classes import MODULE, OPTIMIZER
from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.contents import handed_over
from trainlint.facts.ask.flow import is_made_of
from trainlint.facts.ask.interference import may_touch
from trainlint.facts.model.events.event import Escape
from trainlint.facts.model.events.modules import StateLoaded
from trainlint.facts.model.events.steps import OptimizerStep, SchedulerStep
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, Op, Value, alternatives, constant
from trainlint.finding import Because, Finding
from trainlint.rule import rule

_OF_SCHEDULES = frozenset(
    "step_size gamma milestones T_max eta_min max_lr total_steps epochs steps_per_epoch lr_lambda T_0 T_mult start_factor "
    "end_factor total_iters power pct_start".split()
)
"""Arguments that say how a learning rate changes, and not from where on."""

MOST = 2000
"""How many values are searched for a checkpoint."""


@rule(Training, level="warning", by="S")
def check(training: Training) -> Iterator[Finding]:
    loaded = training.events(StateLoaded)
    if any(not isinstance(one, Object) for event in loaded for one in alternatives(event.target)):
        return
    done = set()
    for number, loop in training.loops.items():
        checkpoint = _start(loop.over)
        if checkpoint is None or checkpoint.at is None or checkpoint.uid in done:
            continue
        model = next(
            (one for one in loaded if _is_of(one, MODULE) and is_made_of(one.state, checkpoint)), None
        )
        if model is None:
            continue
        done.add(checkpoint.uid)
        lost = [
            one
            for one in _stepping(training, number)
            if _keeps_state(one) and not _is_restored(training, one)
        ]
        for optimizer in lost:
            name = optimizer.type.rpartition(".")[2]
            yield Finding(
                model.at,
                f"Training resumes from this checkpoint, but the state of its {name} is not restored: its "
                "running averages of gradients are lost, so the first steps have another size and direction. "
                "Save and load `optimizer.state_dict()` too.",
                (
                    Because(loop.at, "the loop resumes from the checkpoint"),
                    *((Because(optimizer.at, "this optimizer is not restored"),) if optimizer.at else ()),
                ),
            )
        for scheduler in () if lost else _schedulers_from_start(training, number):
            yield Finding(
                model.at,
                "Training resumes from this checkpoint, but the state of its "
                f"{scheduler.type.rpartition('.')[2]} is not restored: the schedule of the learning rate begins "
                "again. Save and load `scheduler.state_dict()` too.",
                (
                    Because(loop.at, "the loop resumes from the checkpoint"),
                    *((Because(scheduler.at, "this scheduler is not restored"),) if scheduler.at else ()),
                ),
            )


def _start(over: Value | None) -> Op | None:
    """The checkpoint that sets the start of a `range`."""
    if not isinstance(over, Op) or over.name != "range" or len(over.inputs) < 2:
        return None
    origins = reached([over.inputs[0]], most=MOST)
    return next((one for one in origins if isinstance(one, Op) and one.name == "load"), None)


def _stepping(training: Training, loop: int) -> Iterator[Object]:
    """The optimizers that step in a loop and were created outside of it."""
    found = {}
    for event in training.inside(loop, OptimizerStep):
        for one in alternatives(event.optimizer):
            if (
                isinstance(one, Object)
                and one.is_a(OPTIMIZER)
                and loop not in one.loops
                and "?" not in one.type
            ):
                found[one.uid] = one
    yield from found.values()


def _schedulers_from_start(training: Training, loop: int) -> Iterator[Object]:
    """The schedulers that only step in a loop, count their steps themselves, and begin with the first one."""
    inside = training.inside(loop, SchedulerStep)
    for one in {step.scheduler.uid: step.scheduler for step in inside}.values():
        steps = [step for step in training.events(SchedulerStep) if step.scheduler is one]
        begins = not one.is_open and "?" not in one.type and loop not in one.loops
        is_counting = all(step in inside and step.told is None for step in steps)
        restored = any(one in alternatives(event.target) for event in training.events(StateLoaded))
        is_set = "last_epoch" in one.options or "last_epoch" in one.attributes or _has_position(one)
        if begins and is_counting and not (restored or is_set or _escapes(training, one)):
            yield one


def _has_position(scheduler: Object) -> bool:
    """Whether an argument beyond the usual ones, or one that is not known, may be the last epoch."""
    usual = 3 if scheduler.type.endswith(("StepLR", "CosineAnnealingLR")) else 2
    return len(scheduler.args) > usual or any(
        name not in _OF_SCHEDULES and name != "optimizer" for name in scheduler.options
    )


def _escapes(training: Training, scheduler: Object) -> bool:
    return any(
        one is scheduler
        for escape in training.events(Escape)
        for value in escape.values
        for one in handed_over(value)
    )


def _keeps_state(optimizer: Object) -> bool:
    if optimizer.type != "torch.optim.SGD":
        return optimizer.type.startswith("torch.optim.")
    momentum = optimizer.argument(2, "momentum")
    return isinstance(constant(momentum), float) and constant(momentum) > 0


def _is_restored(training: Training, optimizer: Object) -> bool:
    if may_touch(training, optimizer, None):
        return True
    return any(optimizer in alternatives(event.target) for event in training.events(StateLoaded))


def _is_of(event: StateLoaded, kind: str) -> bool:
    return any(isinstance(one, Object) and one.is_a(kind) for one in alternatives(event.target))
