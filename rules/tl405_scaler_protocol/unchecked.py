"""Steps past the scaler with gradients that it has unscaled: nobody looks whether these are infinite."""

from __future__ import annotations

from collections.abc import Iterator

from trainlint.facts.ask.precision import casts_of, may_be_disabled, may_scale
from trainlint.facts.model.events.event import Event
from trainlint.facts.model.events.parameters import ParametersRead
from trainlint.facts.model.events.steps import Backward, OptimizerStep, ScaleUpdate, Unscale, ZeroGrad
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, compatible
from trainlint.finding import Because, Finding

from .updates import Run, escapes, in_every_run, same


def unchecked(training: Training, runs: list[Run]) -> Iterator[Finding]:
    """`unscale_`, then `optimizer.step()`, and an `update()` that raises the scale until gradients are infinite."""
    if any(one.of_gradients for one in training.events(ParametersRead)):  # who looks at them may mend them
        return
    scaled = [one for one in training.events(OptimizerStep) if one.scaler is not None]
    for step in training.events(OptimizerStep):
        if step.scaler is not None or any(_may_follow(step, one) for one in scaled):
            continue
        unscale = in_every_run(runs, step, _unscaled)
        if not isinstance(unscale, Unscale) or not _grows(training, unscale.scaler):
            continue
        if _is_half(in_every_run(runs, unscale, _computed)) and set(step.guards) == set(unscale.guards):
            yield Finding(
                step.at,
                f"`{training.name_of(step)}` steps past the scaler, which only skips steps that it takes itself. Its "
                "scale grows until gradients are infinite, as they often are in the first iterations: this step then "
                "makes the weights infinite or NaN. Call `scaler.step(optimizer)`.",
                (Because(unscale.at, "its gradients are unscaled here"),),
                level="warning",
            )


def _may_follow(step: OptimizerStep, scaled: OptimizerStep) -> bool:
    """Whether the scaler may step the same optimizer with the same gradients: on the other side of a branch, it does not."""
    return same(step.optimizer, scaled.optimizer) and compatible(step.guards, scaled.guards)


def _grows(training: Training, scaler: Object) -> bool:
    """Whether a scaler is certainly on, and its scale is updated."""
    if not may_scale(scaler) or may_be_disabled(scaler) or escapes(training, scaler):
        return False
    return any(one.to is None for one in training.events(ScaleUpdate) if one.scaler is scaler)


def _is_half(backward: Event | None) -> bool:
    """Whether gradients are small enough numbers to overflow."""
    casts = {one.dtype for one in casts_of(backward.loss)} if isinstance(backward, Backward) else set()
    return "float16" in casts and "bfloat16" not in casts


def _unscaled(before: Run, step: Event) -> Event | None:
    """What has unscaled the gradients that a step uses, and nothing else since."""
    assert isinstance(step, OptimizerStep)
    for event in reversed(before):
        if isinstance(event, Unscale) and same(event.optimizer, step.optimizer):
            return event
        if isinstance(event, (Backward, OptimizerStep, ZeroGrad)):
            return None
    return None


def _computed(before: Run, _unscale: Event) -> Event | None:
    """The last backward pass before gradients are unscaled."""
    return next((one for one in reversed(before) if isinstance(one, Backward)), None)
