"""How often a gradient scaler unscales and updates, and when."""

from collections.abc import Callable, Iterator

from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.contents import handed_over
from trainlint.facts.ask.escapes import only_looks
from trainlint.facts.ask.interference import may_touch
from trainlint.facts.ask.precision import may_scale
from trainlint.facts.model.events.event import Escape, Event
from trainlint.facts.model.events.steps import Backward, OptimizerStep, ScaleUpdate, Unscale
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, Op, Value, alternatives
from trainlint.finding import Because, Finding

Run = list[Event]


def without_update(training: Training, runs: list[Run]) -> Iterator[Finding]:
    """The scaler steps one optimizer again before its scale was updated."""
    for step in training.events(OptimizerStep):
        if step.scaler is None or not may_scale(step.scaler) or escapes(training, step.scaler):
            continue
        if _is_over_optimizers(training, step) or _is_over_helpers(training, step):
            continue
        again = [_steps_again(run, step) for run in runs]
        if True in again and False not in again:
            yield Finding(
                step.at,
                "This scaler steps again without `update()` in between, so its next `step()` raises. Call "
                "`scaler.update()` after the last `scaler.step(...)` of each iteration.",
                (Because(step.scaler.at, "the scaler is created here"),)
                if step.scaler.at is not None
                else (),
            )


def _is_over_optimizers(training: Training, step: OptimizerStep | Unscale) -> bool:
    """Whether each iteration of the loop around a step is another optimizer."""
    if not step.loops:
        return False
    loop = training.loops[step.loops[-1]]
    inside = {one.uid for one in reached([loop.over])} if loop.over is not None else set()
    return any(
        one.uid in inside or (isinstance(one, Op) and loop.number in one.loops)
        for one in alternatives(step.optimizer)
    )


def _is_over_helpers(training: Training, one: OptimizerStep | Unscale) -> bool:
    """Whether the loop around a step has no backward pass of its own: it may be over hooks, of which one does this."""
    return bool(one.loops) and not training.inside(one.loops[-1], Backward)


def _steps_again(run: Run, step: OptimizerStep) -> bool | None:
    """Whether a step comes again without an update in between; None if it does not come again."""
    pending = False
    found: bool | None = None
    for event in run:
        if event is step:
            if pending:
                return True
            pending = True
        elif isinstance(event, ScaleUpdate) and event.scaler is step.scaler:
            found, pending = (False if pending else found), False
    return found


def unscaled_twice(training: Training, runs: list[Run]) -> Iterator[Finding]:
    """Gradients are unscaled twice before one update: with every micro-batch, or in two places of one iteration."""
    for one in training.events(Unscale):
        if not may_scale(one.scaler) or escapes(training, one.scaler) or _is_over_optimizers(training, one):
            continue
        before = in_every_run(runs, one, _unscaled_before)
        if before is not None and before is not one:
            yield Finding(
                one.at,
                "These gradients are unscaled already, so this raises. Call `unscale_()` once per optimizer and "
                "iteration.",
                (Because(before.at, "they are unscaled here"),),
            )
        elif (
            not training.inside_loop(one)
            and not _is_over_helpers(training, one)
            and any(_unscales_again(run, one) for run in runs)
        ):
            yield Finding(
                one.at,
                "These gradients are unscaled in each iteration, but the scale is only updated in some: the next "
                "`unscale_()` before `update()` raises. Unscale only in the iterations that step.",
            )


def _unscaled_before(before: Run, unscale: Event) -> Event | None:
    """What has unscaled the same gradients before, without an update in between."""
    assert isinstance(unscale, Unscale)
    if len(list(alternatives(unscale.optimizer))) != 1:
        return None
    for event in reversed(before):
        if isinstance(event, ScaleUpdate):
            return None
        if (
            isinstance(event, Unscale)
            and event.scaler is unscale.scaler
            and same(event.optimizer, unscale.optimizer)
        ):
            return event
    return None


def _unscales_again(run: Run, unscale: Unscale) -> bool:
    """Whether gradients are unscaled twice without an update in between, in a run in which there is one."""
    pending = again = updated = False
    for event in run:
        if event is unscale:
            again, pending = again or pending, True
        elif isinstance(event, ScaleUpdate) and event.scaler is unscale.scaler:
            pending, updated = False, True
    return again and updated


def update_twice(training: Training, runs: list[Run]) -> Iterator[Finding]:
    """The scale is updated again although nothing has stepped."""
    for update in training.events(ScaleUpdate):
        if update.to is not None or not may_scale(update.scaler) or escapes(training, update.scaler):
            continue
        before = in_every_run(runs, update, _update_right_before)
        if before is not None:
            yield Finding(
                update.at,
                "The scale was updated already, and nothing has stepped since, so this raises. Call "
                "`scaler.update()` once per iteration, after the last `scaler.step(...)`.",
                (Because(before.at, "the scale was updated here"),),
            )


def _update_right_before(before: Run, update: Event) -> Event | None:
    """The update before another one, if the scaler has stepped no optimizer, and unscaled nothing, in between."""
    assert isinstance(update, ScaleUpdate)
    for event in reversed(before):
        if isinstance(event, ScaleUpdate) and event.scaler is update.scaler:
            return event
        if isinstance(event, (OptimizerStep, Unscale)) and event.scaler is update.scaler:
            return None
    return None


def update_between(training: Training, runs: list[Run]) -> Iterator[Finding]:
    """The scale is updated while an optimizer has still to step with gradients of the old scale."""
    done = set()
    for step in training.events(OptimizerStep):
        if step.scaler is None or not may_scale(step.scaler) or escapes(training, step.scaler):
            continue
        if may_touch(training, step.optimizer, None) or _is_over_optimizers(training, step):
            continue
        update = in_every_run(runs, step, _update_since_backward)
        if update is not None and id(update) not in done:
            done.add(id(update))
            yield Finding(
                update.at,
                "The scale is updated before all optimizers have stepped: the gradients of the next one were "
                "computed with the old scale, and are divided by the new one. Call `scaler.update()` once per "
                "iteration, after the last `scaler.step(...)`.",
                (Because(step.at, "this optimizer steps after the update"),),
                level="warning",
            )


def _update_since_backward(before: Run, step: Event) -> Event | None:
    """The update between a step and the backward pass whose gradients it uses, if another optimizer stepped first."""
    assert isinstance(step, OptimizerStep)
    update: Event | None = None
    for event in reversed(before):
        match event:
            case ScaleUpdate() if event.scaler is step.scaler:
                update = update or event
            case Unscale() if same(event.optimizer, step.optimizer):
                return None
            case Backward():
                return None
            case OptimizerStep() if update is not None:
                is_other = event.scaler is step.scaler and not same(event.optimizer, step.optimizer)
                return update if is_other else None
    return None


def in_every_run(
    runs: list[Run], event: Event, culprit: Callable[[Run, Event], Event | None]
) -> Event | None:
    """What is wrong with an event, if it is wrong each time that it happens in every order."""
    found: Event | None = None
    for run in runs:
        for position, one in enumerate(run):
            if one is event:
                wrong = culprit(run[:position], event)
                if wrong is None:
                    return None
                found = found or wrong
    return found


def same(first: Value, second: Value) -> bool:
    return bool({one.uid for one in alternatives(first)} & {one.uid for one in alternatives(second)})


def escapes(training: Training, scaler: Object) -> bool:
    """Whether unknown code receives a scaler."""
    return any(
        one is scaler
        for escape in training.events(Escape)
        if not only_looks(escape)
        for value in escape.values
        for one in handed_over(value)
    )
