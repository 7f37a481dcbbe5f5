from collections.abc import Iterator

from trainlint.facts.api.classes import SCALER
from trainlint.facts.ask.interference import may_set_gradients, may_touch, uses_gradients
from trainlint.facts.ask.precision import is_unscaled, may_scale, scaling
from trainlint.facts.ask.stepped import certainly_clears
from trainlint.facts.model.events.event import Event
from trainlint.facts.model.events.steps import Backward, OptimizerStep, ScaleUpdate, Unscale, ZeroGrad
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, alternatives
from trainlint.finding import Because, Finding, Open, not_shown_by_runs
from trainlint.rule import rule

from .never import never_updated
from .partly import partly_scaled
from .unchecked import unchecked
from .updates import (
    Run,
    escapes,
    in_every_run,
    same,
    unscaled_twice,
    update_between,
    update_twice,
    without_update,
)

EVENTS = (Backward, OptimizerStep, Unscale, ScaleUpdate, ZeroGrad)


@rule(Training, level="error")
def check(training: Training) -> Iterator[Finding | Open]:
    if not _scales(training):
        return
    runs = training.runs(*EVENTS)
    yield from _past_the_scaler(training, runs)
    yield from _unscaled(training, runs)
    if not isinstance(training, Recorded):
        yield from not_shown_by_runs(_raising(training, runs))
        yield from not_shown_by_runs(unchecked(training, runs))


def _raising(training: Training, runs: list[Run]) -> Iterator[Finding]:
    """Calls that raise, or spoil the scale, where the scaler is enabled; without a GPU it mostly is not."""
    yield from partly_scaled(training, runs)
    yield from _twice(runs)
    yield from unscaled_twice(training, runs)
    yield from without_update(training, runs)
    yield from never_updated(training)
    yield from update_twice(training, runs)
    yield from update_between(training, runs)


def _scales(training: Training) -> bool:
    return (
        any(one.scaler is not None for one in training.events(OptimizerStep))
        or bool(training.events(ScaleUpdate))
        or any(_scaler_of(one) is not None for one in training.events(Backward))
    )


def _past_the_scaler(training: Training, runs: list[Run]) -> Iterator[Finding | Open]:
    """The loss is scaled, but the optimizer steps directly."""
    if uses_gradients(training, None) and may_set_gradients(training, None):
        return
    steps = training.events(OptimizerStep)
    scaled = {one.uid for step in steps if step.scaler is not None for one in alternatives(step.optimizer)}
    for step in steps:
        if step.scaler is not None or any(one.uid in scaled for one in alternatives(step.optimizer)):
            continue
        if not all(isinstance(one, Object) for one in alternatives(step.optimizer)):
            continue  # an average, a profiler or a schedule may be what has a step here
        if _may_be_unscaled(training, step):
            continue
        if training.leaves_steps_out:
            yield Open(step.at, "whether the scaler steps this optimizer later")
            continue
        backward = in_every_run(runs, step, _all_scaled)
        if backward is not None:
            yield Finding(
                step.at,
                f"The loss is scaled, but `{training.name_of(step)}` does not step through the scaler, so "
                "its gradients are still tens of thousands of times too large. Call `scaler.step(optimizer)` "
                "and then `scaler.update()` instead.",
                (Because(backward.at, "these gradients are scaled"),),
            )


def _may_be_unscaled(training: Training, step: OptimizerStep) -> bool:
    """Whether unknown code is handed the scaler, or what steps in the loop: a schedule that was given the optimizer before
    it does not know the scale."""
    scalers = [one for one in training.objects if one.is_a(SCALER)]
    return any(escapes(training, one) for one in scalers) or may_touch(
        training, step.optimizer, step.loops[-1] if step.loops else None
    )


def _unscaled(training: Training, runs: list[Run]) -> Iterator[Finding]:
    """The optimizer steps through the scaler, and the loss was not scaled."""
    for step in training.events(OptimizerStep):
        if step.scaler is None or step.scaler.type != SCALER or not may_scale(step.scaler):
            continue
        backward = in_every_run(runs, step, _all_unscaled)
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
                and same(event.optimizer, before.optimizer)
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
        if isinstance(event, OptimizerStep) and same(event.optimizer, step.optimizer):
            break
        if isinstance(event, ZeroGrad) and certainly_clears(event.target, step.optimizer):
            break
        if isinstance(event, Unscale) and step.scaler is None and same(event.optimizer, step.optimizer):
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
