from collections.abc import Iterator, Sequence

from trainlint.facts.api.classes import LOADER, OPTIMIZER, SCALER, SCHEDULER
from trainlint.facts.api.operations import FRESH
from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.evidence import of_rebuilding
from trainlint.facts.ask.flow import made_of
from trainlint.facts.ask.holding import inside
from trainlint.facts.ask.interference import is_replaced
from trainlint.facts.ask.precision import may_be_disabled
from trainlint.facts.ask.stepped import modules_held
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.events.modules import Built
from trainlint.facts.model.events.parameters import RequiresGrad
from trainlint.facts.model.events.steps import Backward, OptimizerStep, SchedulerStep
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Choice, Constant, Items, Object, Op, Unknown, Value, alternatives
from trainlint.finding import Because, Finding, Level, Open
from trainlint.rule import rule

from .per_call import made_per_call

_LOOPS_OF_A_TRAINING = 2
"""Epochs and batches: where an iteration has both, it is a training of its own, one of several to compare."""

_BOUNDS_AND_STEP = 3
"""How many arguments `range` has that also names a step, which may be 0 for all we know."""

_ANOTHER_EACH_TIME = FRESH | {"iterate", "call", "getitem"}
"""Operations that may give other values on each iteration."""


@rule(Training, level="error", confidence="likely")
def check(training: Training) -> Iterator[Finding | Open]:
    yield from _per_call(training)
    for built in training.events(Built):
        if not built.loops or not training.inside(built.loops[-1], Backward):
            continue
        if _runs_once(training, built.loops[-1]):
            continue
        if not _is_built_each_time(training, built):
            continue
        if isinstance(training, Recorded) and sum(one.at == built.at for one in training.events(Built)) == 1:
            yield Open(built.at, "whether the next iteration makes another")
            continue
        if built.object.is_a(OPTIMIZER):
            yield from _optimizer(training, built, built.loops[-1])
        elif built.object.is_a(SCHEDULER):
            yield from _scheduler(training, built, built.loops[-1])
        elif built.object.is_a(SCALER):
            yield from _scaler(training, built, built.loops[-1])


def _per_call(training: Training) -> Iterator[Finding]:
    for built, step in made_per_call(training):
        if built.at is not None and _has_state(built.object):
            yield Finding(
                built.at,
                f"This `{built.object.type.rpartition('.')[2]}` is created on every call of `{training.name.rpartition('.')[2]}` "
                "for a single step, so its momentum and all other state are lost each time. Create it once, where the model "
                "is created.",
                (Because(step.at, "its only step"),),
                doubt="nobody in sight calls this, and it may be called once",
                confidence="likely",
                is_shown_by_runs=False,
            )


def _runs_once(training: Training, loop: int) -> bool:
    """Whether a loop certainly has one iteration: `for repeat in range(1)`."""
    around = training.loops.get(loop)
    over = around.over if around is not None else None
    if not (isinstance(over, Op) and over.name == "range" and over.inputs):
        return False
    bounds = [one.value for one in over.inputs if isinstance(one, Constant) and not one.is_default]
    numbers = [one for one in bounds if isinstance(one, int)]
    return len(numbers) == len(over.inputs) < _BOUNDS_AND_STEP and len(range(*numbers)) == 1


def _is_built_each_time(training: Training, built: Built) -> bool:
    """Whether nothing decides in an iteration whether it is made: at most, a setting decides which of several of its kind
    is, as in a helper that is told a name."""
    around = training.guards_around(built.loops[-1])
    own = [guard for guard in built.guards if guard not in around]
    if not own:
        return True
    others = {guard for one in training.events(Built) if _is_beside(one, built) for guard in one.guards}
    return all(training.is_setting(condition) for condition, _ in own) and any(
        (condition, not outcome) in others for condition, outcome in own
    )


def _is_beside(one: Built, built: Built) -> bool:
    """Whether another object of the same kind is made in the same loop and function."""
    kinds = (OPTIMIZER, SCHEDULER, SCALER)
    return (
        one.loops == built.loops
        and one.calls == built.calls
        and any(one.object.is_a(kind) and built.object.is_a(kind) for kind in kinds)
    )


def _optimizer(training: Training, built: Built, loop: int) -> Iterator[Finding]:
    optimizer = built.object
    modules, complete = modules_held(optimizer)
    models = [one for module in modules for one in alternatives(module)]
    lives_on = (
        bool(models)
        and complete
        and not _has_a_schedule(training, built)
        and all(
            isinstance(one, Object) and _is_the_same(one, built) and not is_replaced(training, one, loop)
            for one in models
        )
    )
    steps = any(
        _is(one.optimizer, optimizer)
        and len(one.loops) - len(built.loops) < _LOOPS_OF_A_TRAINING
        and not _is_training_of_its_own(training, one, built)
        for one in training.inside(loop, OptimizerStep)
    )
    is_another = _is_for_others(training, optimizer, loop) or _is_tried_out(training, optimizer, loop)
    if steps and lives_on and _has_state(optimizer) and not is_another:
        yield _finding(training, built, "so its momentum and all other state are lost each time")


def _is_training_of_its_own(training: Training, step: OptimizerStep, built: Built) -> bool:
    """Whether the loop inside goes over the same data many times: each iteration of the one around it is a task, a fold or
    a run, which has an optimizer of its own."""
    if len(step.loops) == len(built.loops):
        return False
    inner = step.loops[len(built.loops)]
    around = training.loops.get(inner)
    if around is not None and not _is_counted(around.over):
        return False
    if any(one.object.is_a(LOADER) for one in training.inside(inner, Built)):
        return True  # it begins its data anew itself, whenever it is through
    losses = [one.loss for one in training.inside(inner, Backward)]
    return not any(
        isinstance(one, Unknown)
        or (isinstance(one, Op) and inner in one.loops and one.name in _ANOTHER_EACH_TIME)
        for one in reached(losses)
    )


def _is_counted(over: Value | None) -> bool:
    """Whether a loop only counts, or goes on until something holds."""
    return over is None or (isinstance(over, Op) and over.name == "range")


def _scheduler(training: Training, built: Built, loop: int) -> Iterator[Finding | Open]:
    """One that steps once and is discarded, while its optimizer is kept."""
    scheduler = built.object
    steps = [one for one in training.inside(loop, SchedulerStep) if one.scheduler is scheduler]
    if not steps:
        yield Open(built.at, "how often this scheduler steps")
    is_alone = "last_epoch" not in scheduler.options and all(one.loops[-1] == loop for one in steps)
    if steps and is_alone and _lives_on(scheduler.argument(0, "optimizer"), loop):
        yield _finding(
            training, built, "so its schedule restarts each time, and never gets past the first step"
        )


def _scaler(training: Training, built: Built, loop: int) -> Iterator[Finding]:
    scaler = built.object
    steps = [one for one in training.inside(loop, OptimizerStep) if one.scaler is scaler]
    is_needed = _is_lowered(training, loop) and not may_be_disabled(scaler)
    if steps and all(_lives_on(one.optimizer, loop) for one in steps) and is_needed:
        level: Level = "error" if all(one.loops[-1] == loop for one in steps) else "warning"
        why = "so the scale that it has found is lost, and steps are skipped until it is found again"
        yield _finding(training, built, why, level)


def _is_lowered(training: Training, loop: int) -> bool:
    """Whether something is computed in a region of autocast: gradients of float32 overflow at no scale that is in use."""
    losses = (one for backward in training.inside(loop, Backward) for one in made_of(backward.loss))
    return any(one.autocast for one in training.events(Forward)) or any(
        isinstance(one, Op) and one.autocast for one in losses
    )


def _finding(training: Training, built: Built, why: str, level: Level = "error") -> Finding:
    around = training.loops.get(built.loops[-1])  # none, if it is that of a comprehension
    return Finding(
        built.at,
        f"This `{built.object.type.rpartition('.')[2]}` is re-created on every iteration of the loop, {why}. "
        "Create it once, before the loop.",
        () if around is None else (Because(around.at, "on every iteration of this loop"),),
        level=level,
        evidence=of_rebuilding(training, built.at),
    )


def _has_a_schedule(training: Training, built: Built) -> bool:
    """Whether a schedule of its own begins and runs with it: then each iteration is a training, of a stage or window."""
    schedulers = [
        one.object
        for one in training.inside(built.loops[-1], Built)
        if one.object.is_a(SCHEDULER) and one.loops == built.loops
    ]
    return any(
        alternative in schedulers and len(step.loops) > len(built.loops)
        for step in training.inside(built.loops[-1], SchedulerStep)
        for alternative in alternatives(step.scheduler)
    )


def _is_for_others(training: Training, optimizer: Object, loop: int) -> bool:
    """Whether each iteration may give it other parameters: those of the layer at hand, or those that it asks for or thaws."""
    given = optimizer.argument(0, "params")
    made_of = list(reached([given] if given is not None else [], _with_choices))
    if any(_is_drawn(one, loop) for one in made_of):
        return True
    is_chosen = any(isinstance(one, Items) and one.chosen_by for one in made_of)
    return is_chosen and bool(training.inside(loop, RequiresGrad))


def _with_choices(value: Value) -> Sequence[Value]:
    """What a list of parameters is made of, with what chose its items."""
    return (*value.parts(), *value.chosen_by) if isinstance(value, Items) else value.parts()


def _is_tried_out(training: Training, optimizer: Object, loop: int) -> bool:
    """Whether the loop goes through settings of the optimizer, such as learning rates, and tries each with a step: `for lr in
    rates`. One that is computed from the number of an epoch, or that a loop over data follows, is of the same training."""
    around = training.loops.get(loop)
    if around is None or _is_counted(around.over):
        return False
    if any(one.loops[-1] != loop for one in training.inside(loop, OptimizerStep)):
        return False
    settings = [*optimizer.args[1:], *(one for name, one in optimizer.options.items() if name != "params")]
    return any(_is_drawn(one, loop) for one in reached(settings))


def _is_the_same(module: Object, built: Built) -> bool:
    """Whether a module was created before the loop, with all its parts, and is none of several that another loop has
    created."""
    grows = any(isinstance(one, Object) and built.loops[-1] in one.loops for one in inside(module))
    return not grows and set(module.loops) <= set(built.loops[:-1])


def _is_drawn(value: Value, loop: int) -> bool:
    """Whether a value is one element of several, another on each iteration of this very loop: one inside begins anew."""
    if isinstance(value, Choice):
        return not any(guards for guards, _ in value.options)
    return isinstance(value, Op) and value.name == "iterate" and value.loops[-1:] == (loop,)


def _is(value: Value, wanted: Object) -> bool:
    return any(one is wanted for one in alternatives(value))


def _lives_on(value: Value | None, loop: int) -> bool:
    """Whether a value certainly is an object that was created before a loop."""
    found = list(alternatives(value))
    return bool(found) and all(isinstance(one, Object) and loop not in one.loops for one in found)


def _has_state(optimizer: Object) -> bool:
    """Plain SGD has no state to lose; an unknown optimizer may have some."""
    if optimizer.type != "torch.optim.SGD":
        return True
    momentum = optimizer.argument(2, "momentum")
    return isinstance(momentum, Constant) and bool(momentum.value)
