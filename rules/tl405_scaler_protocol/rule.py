from collections.abc import Callable, Iterator

from trainlint.facts.api.classes import SCALER
from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.contents import handed_over
from trainlint.facts.ask.interference import may_touch
from trainlint.facts.ask.precision import is_unscaled, may_scale, scaling
from trainlint.facts.ask.stepped import certainly_clears
from trainlint.facts.model.events.event import Escape, Event
from trainlint.facts.model.events.parameters import ParametersRead
from trainlint.facts.model.events.steps import Backward, OptimizerStep, ScaleUpdate, Unscale, ZeroGrad
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, Op, Value, alternatives
from trainlint.finding import Because, Finding, Open
from trainlint.rule import rule

Run = list[Event]
EVENTS = (Backward, OptimizerStep, Unscale, ScaleUpdate, ZeroGrad)


@rule(Training, level="error")
def check(training: Training) -> Iterator[Finding | Open]:
    if not _scales(training):
        return
    runs = training.runs(*EVENTS)
    yield from _past_the_scaler(training, runs)
    yield from _unscaled(training, runs)
    if not isinstance(training, Recorded):
        yield from _twice(runs)
        yield from _unscaled_twice(training, runs)
        yield from _without_update(training, runs)
        yield from _update_twice(training, runs)


def _scales(training: Training) -> bool:
    return (
        any(one.scaler is not None for one in training.events(OptimizerStep))
        or bool(training.events(ScaleUpdate))
        or any(_scaler_of(one) is not None for one in training.events(Backward))
    )


def _past_the_scaler(training: Training, runs: list[Run]) -> Iterator[Finding | Open]:
    """The loss is scaled, but the optimizer steps directly."""
    if training.events(ParametersRead):
        return
    steps = training.events(OptimizerStep)
    scaled = {one.uid for step in steps if step.scaler is not None for one in alternatives(step.optimizer)}
    for step in steps:
        if step.scaler is not None or any(one.uid in scaled for one in alternatives(step.optimizer)):
            continue
        if may_touch(training, step.optimizer, None):
            continue
        if training.leaves_steps_out:
            yield Open(step.at, "whether the scaler steps this optimizer later")
            continue
        backward = _in_every_run(runs, step, _all_scaled)
        if backward is not None:
            yield Finding(
                step.at,
                f"The loss is scaled, but `{training.name_of(step)}` does not step through the scaler, so "
                "its gradients are still tens of thousands of times too large. Call `scaler.step(optimizer)` "
                "and then `scaler.update()` instead.",
                (Because(backward.at, "these gradients are scaled"),),
            )


def _unscaled(training: Training, runs: list[Run]) -> Iterator[Finding]:
    """The optimizer steps through the scaler, and the loss was not scaled."""
    for step in training.events(OptimizerStep):
        if step.scaler is None or step.scaler.type != SCALER or not may_scale(step.scaler):
            continue
        backward = _in_every_run(runs, step, _all_unscaled)
        if backward is not None:
            yield Finding(
                backward.at,
                "This loss is not scaled, but the scaler divides its gradients by the scale before the step, so the "
                "optimizer hardly moves, or the step raises. Call `scaler.scale(loss).backward()`.",
                (Because(step.at, "the scaler unscales here"),),
            )


def _twice(runs: list[Run]) -> Iterator[Finding]:
    """The optimizer steps through the scaler, and once more directly."""
    done: set[int] = set()
    for run in runs:
        before: OptimizerStep | None = None
        for event in run:
            if isinstance(event, (Backward, ZeroGrad)):
                before = None
            elif isinstance(event, OptimizerStep) and event.scaler is not None:
                before = event
            elif (
                isinstance(event, OptimizerStep)
                and before is not None
                and _same(event.optimizer, before.optimizer)
                and (event.guards, event.loops) == (before.guards, before.loops)
                and id(event) not in done
            ):
                done.add(id(event))
                yield Finding(
                    event.at,
                    "The scaler has stepped this optimizer already, so each iteration steps twice with the "
                    "same gradients. Remove this call: `scaler.step(optimizer)` is enough.",
                    (Because(before.at, "the scaler steps the optimizer here"),),
                )


def _without_update(training: Training, runs: list[Run]) -> Iterator[Finding]:
    """The scaler steps one optimizer again before its scale was updated."""
    for step in training.events(OptimizerStep):
        if step.scaler is None or not may_scale(step.scaler) or _escapes(training, step.scaler):
            continue
        if _is_over_optimizers(training, step):
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


def _unscaled_twice(training: Training, runs: list[Run]) -> Iterator[Finding]:
    """Gradients are unscaled with every micro-batch, and the scale is only updated with some."""
    for one in training.events(Unscale):
        if not may_scale(one.scaler) or _escapes(training, one.scaler) or training.inside_loop(one):
            continue
        if not _is_over_optimizers(training, one) and any(_unscales_again(run, one) for run in runs):
            yield Finding(
                one.at,
                "These gradients are unscaled in each iteration, but the scale is only updated in some: the next "
                "`unscale_()` before `update()` raises. Unscale only in the iterations that step.",
            )


def _unscales_again(run: Run, unscale: Unscale) -> bool:
    """Whether gradients are unscaled twice without an update in between, in a run in which there is one."""
    pending = again = updated = False
    for event in run:
        if event is unscale:
            again, pending = again or pending, True
        elif isinstance(event, ScaleUpdate) and event.scaler is unscale.scaler:
            pending, updated = False, True
    return again and updated


def _update_twice(training: Training, runs: list[Run]) -> Iterator[Finding]:
    """The scale is updated again although nothing has stepped."""
    for update in training.events(ScaleUpdate):
        if update.to is not None or not may_scale(update.scaler) or _escapes(training, update.scaler):
            continue
        before = _in_every_run(runs, update, _update_right_before)
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


def _in_every_run(
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


def _all_scaled(before: Run, step: Event) -> Event | None:
    """A backward of a scaled loss, if all backward passes of a step are."""
    backwards = _used(before, step)
    return backwards[0] if backwards and all(_scaler_of(one) is not None for one in backwards) else None


def _all_unscaled(before: Run, step: Event) -> Event | None:
    """A backward of an unscaled loss, if all backward passes of a step are."""
    backwards = _used(before, step)
    plain = all(not one.by_framework and is_unscaled(one.loss) for one in backwards)
    return backwards[0] if backwards and plain else None


def _used(before: Run, step: Event) -> list[Backward]:
    """The backward passes whose gradients a step uses, the latest first; none where they were unscaled by hand."""
    assert isinstance(step, OptimizerStep)
    found = []
    for event in reversed(before):
        if isinstance(event, OptimizerStep) and _same(event.optimizer, step.optimizer):
            break
        if isinstance(event, ZeroGrad) and certainly_clears(event.target, step.optimizer):
            break
        if isinstance(event, Unscale) and step.scaler is None and _same(event.optimizer, step.optimizer):
            return []
        if isinstance(event, Backward):
            found.append(event)
    return found


def _scaler_of(backward: Backward) -> Object | None:
    """The scaler that has scaled a loss; None where it is not known, or disabled."""
    for scale in scaling(backward.loss):
        if scale.owner is not None and scale.owner.is_a(SCALER) and may_scale(scale.owner):
            return scale.owner
    return None


def _same(first: Value, second: Value) -> bool:
    return bool({one.uid for one in alternatives(first)} & {one.uid for one in alternatives(second)})


def _escapes(training: Training, scaler: Object) -> bool:
    """Whether unknown code receives a scaler."""
    return any(
        one is scaler
        for escape in training.events(Escape)
        for value in escape.values
        for one in handed_over(value)
    )
