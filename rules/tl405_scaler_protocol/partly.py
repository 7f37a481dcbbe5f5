"""Losses of one step of which some are scaled, and some are not."""

from __future__ import annotations

from collections.abc import Iterator

from trainlint.facts.api.classes import MODULE
from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.attachment import cuts
from trainlint.facts.ask.precision import is_unscaled, may_scale, scaling
from trainlint.facts.ask.stepped import certainly_clears
from trainlint.facts.model.events.event import Event
from trainlint.facts.model.events.steps import Backward, OptimizerStep, Unscale, ZeroGrad
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Op, Value
from trainlint.finding import Because, Finding

from .updates import Run, in_every_run, same


def partly_scaled(training: Training, runs: list[Run]) -> Iterator[Finding]:
    """A loss that is not scaled adds to the gradients of one that is."""
    for step in training.events(OptimizerStep):
        if step.scaler is None or not may_scale(step.scaler):
            continue
        backward = in_every_run(runs, step, _unscaled_beside)
        if backward is not None:
            yield Finding(
                backward.at,
                "This loss is not scaled, and its gradients add to those of a loss that is: the scaler divides all of them "
                "by the scale, so this loss counts tens of thousands of times too little. Scale it too: "
                "`scaler.scale(loss).backward()`.",
                (Because(step.at, "the scaler unscales both here"),),
            )


def _unscaled_beside(before: Run, step: Event) -> Backward | None:
    """A backward of an unscaled loss for a step, with one of a scaled loss on outputs of the same model."""
    assert isinstance(step, OptimizerStep)
    scaled: list[Backward] = []
    plain: list[Backward] = []
    for event in reversed(before):
        if isinstance(event, OptimizerStep) or (
            isinstance(event, ZeroGrad) and certainly_clears(event.target, step.optimizer)
        ):
            break
        if isinstance(event, Unscale) and same(event.optimizer, step.optimizer):
            plain.clear()  # gradients that are added after it are right without a scale
        elif isinstance(event, Backward) and not event.by_framework:
            (plain if is_unscaled(event.loss) else scaled).append(event)
    outputs = {uid for one in scaled if any(scaling(one.loss)) for uid in _outputs(one.loss)}
    return next((one for one in plain if not outputs.isdisjoint(_outputs(one.loss))), None)


def _outputs(loss: Value) -> Iterator[int]:
    """The numbers of the outputs of modules that a loss is made of, and that its gradient reaches."""
    return (
        one.uid
        for one in reached([loss], _recorded)
        if isinstance(one, Op)
        and (
            _is_of_unknown(one) or (one.name == "output" and one.owner is not None and one.owner.is_a(MODULE))
        )
    )


def _is_of_unknown(op: Op) -> bool:
    """Whether something is called of which nothing is known, as a model that is handed over."""
    return op.name == "call" and op.owner is None and len(op.inputs) > 1


def _recorded(value: Value) -> tuple[Value, ...]:
    is_stop = isinstance(value, Op) and (value.records is False or cuts(value) or _is_of_unknown(value))
    return () if is_stop else tuple(value.parts())
