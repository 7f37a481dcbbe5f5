from collections.abc import Iterator

from trainlint.facts.api.classes import MODULE, OPTIMIZER, SCALER
from trainlint.facts.ask.flow import is_made_of
from trainlint.facts.ask.holding import contains
from trainlint.facts.ask.interference import may_touch
from trainlint.facts.ask.stepped import modules_held
from trainlint.facts.model.events.modules import Built, StateLoaded
from trainlint.facts.model.events.steps import OptimizerStep, SchedulerStep
from trainlint.facts.model.nodes import Loop
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, alternatives, compatible, constant
from trainlint.finding import Because, Finding
from trainlint.rule import rule

from .exchanged import exchanged, of_no_optimizer
from .from_start import is_picked_by_name, scalers_from_start, schedulers_from_start
from .left_aside import forgotten
from .resuming import resumed_from


@rule(Training, level="warning", by="S", absence=True)
def check(training: Training) -> Iterator[Finding]:
    for left in forgotten(training):
        yield Finding(
            left.at,
            f"Training resumes from this checkpoint, but the state of `{left.name}`, which is saved beside this, is not "
            "restored: what it has learned of earlier steps is lost. Load it too.",
            (Because(left.by, f"`{left.name}` is there, and not used"),),
            confidence="likely",
            doubt="other code may restore it",
        )
    for state in exchanged(training):
        if state.at is not None:
            yield Finding(
                state.at,
                "The checkpoint holds the state of the optimizer as that of the scheduler, and something else as the optimizer's: "
                "neither can be restored. Exchange the two, perhaps where the function that saves is called.",
            )
    for state, owner in of_no_optimizer(training):
        if state.at is not None:
            yield Finding(
                state.at,
                f"The checkpoint holds the state of {owner.title} as that of the optimizer, whose running averages are lost. Save "
                "`optimizer.state_dict()`.",
            )
    loaded = training.events(StateLoaded)
    if any(not isinstance(one, Object) for event in loaded for one in alternatives(event.target)):
        return
    models = [one for one in loaded if _is_of(one, MODULE)]
    done = set()
    for number, loop in training.loops.items():
        checkpoint = resumed_from(training, loop, models)
        if checkpoint is None or checkpoint.at is None or checkpoint.uid in done:
            continue
        model = next((one for one in models if is_made_of(one.state, checkpoint)), None)
        if model is None:
            continue
        done.add(checkpoint.uid)
        lost = [
            one
            for one in _stepping(training, number)
            if _keeps_state(one)
            and not _is_restored(training, one)
            and not _is_for_a_fresh_start(training, one, model)
            and not _is_of_a_later_model(one, model)
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
        for scheduler in () if lost else schedulers_from_start(training, number):
            if _is_for_a_fresh_start(training, scheduler, model):
                continue
            yield _not_restored(
                model,
                loop,
                scheduler,
                "the schedule of the learning rate begins again. Save and load `scheduler.state_dict()` too.",
            )
        for scaler in () if lost else scalers_from_start(training, number):
            yield _not_restored(
                model,
                loop,
                scaler,
                "its scale begins at 65,536 again, and the first steps are skipped until it is small enough. Save and "
                "load `scaler.state_dict()` too.",
            )


def _not_restored(model: StateLoaded, loop: Loop, lost: Object, harm: str) -> Finding:
    name = lost.type.rpartition(".")[2]
    what = "scaler" if lost.is_a(SCALER) else "scheduler"
    is_picked = is_picked_by_name(lost)
    called = "scheduler" if is_picked else name
    return Finding(
        model.at,
        f"Training resumes from this checkpoint, but the state of its {called} is not restored: {harm}",
        (
            Because(loop.at, "the loop resumes from the checkpoint"),
            *((Because(lost.at, f"this {what} is not restored"),) if lost.at else ()),
        ),
        confidence="likely" if is_picked else None,
        doubt="its class is picked by name" if is_picked else "",
    )


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


def _keeps_state(optimizer: Object) -> bool:
    if optimizer.type != "torch.optim.SGD":
        return optimizer.type.startswith("torch.optim.")
    momentum = optimizer.argument(2, "momentum")
    return isinstance(constant(momentum), float) and constant(momentum) > 0


def _is_restored(training: Training, optimizer: Object) -> bool:
    if may_touch(training, optimizer, None):
        return True
    return any(optimizer in alternatives(event.target) for event in training.events(StateLoaded))


def _is_for_a_fresh_start(training: Training, stepping: Object, model: StateLoaded) -> bool:
    """Whether an optimizer or a scheduler is only created where no checkpoint is loaded, or only steps there: a helper that
    loads one has put another in its place."""
    made = [one for one in training.events(Built) if one.object is stepping]
    schedules = [one for one in training.events(SchedulerStep) if one.scheduler is stepping]
    steps = [one for one in training.events(OptimizerStep) if one.optimizer is stepping]
    return any(
        events and not any(compatible(one.guards, model.guards) for one in events)
        for events in (made, schedules, steps)
    )


def _is_of_a_later_model(optimizer: Object, loaded: StateLoaded) -> bool:
    """Whether an optimizer certainly holds nothing but modules that were created after the weights were loaded, which do not
    go into them: those of a start from scratch, where resuming has failed."""
    held, is_complete = modules_held(optimizer)
    modules = [one for module in held for one in alternatives(module)]
    targets = [one.uid for one in alternatives(loaded.target)]
    return (
        bool(modules)
        and is_complete
        and all(
            isinstance(one, Object) and one.uid > loaded.state.uid and not contains(one, targets)
            for one in modules
        )
        and not any(is_made_of(one, target) for one in modules for target in alternatives(loaded.target))
    )


def _is_of(event: StateLoaded, kind: str) -> bool:
    return any(isinstance(one, Object) and one.is_a(kind) for one in alternatives(event.target))
