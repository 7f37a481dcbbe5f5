"""Scalers that only the object that makes them knows, and that nothing of it ever updates."""

from __future__ import annotations

from collections.abc import Iterator

from trainlint.facts.ask.precision import may_scale
from trainlint.facts.model.events.steps import OptimizerStep, ScaleUpdate
from trainlint.facts.model.training import Training
from trainlint.finding import Because, Elsewhere, Finding

from .updates import escapes

_UPDATES = Elsewhere(r"scaler\w*\.update\(", "this project updates a scaler")


def never_updated(training: Training) -> Iterator[Finding]:
    """A method steps through the scaler that its constructor has made, and no method updates that: called once more, it raises."""
    if training.entry != "function" or training.events(ScaleUpdate) or "update" in training.earlier.others:
        return
    own = {one.uid for one in training.earlier.objects}
    for step in training.events(OptimizerStep):
        scaler = step.scaler
        if scaler is None or step.loops or scaler.uid not in own or not may_scale(scaler):
            continue
        if scaler.is_given or scaler.is_open:
            continue
        if not escapes(training, scaler):
            yield Finding(
                step.at,
                "Nothing calls `update()` of this scaler, so its second `step()` raises. Call `scaler.update()` after the last "
                "`scaler.step(...)` of each iteration.",
                (Because(scaler.at, "the scaler is created here"),) if scaler.at is not None else (),
                confidence="likely",
                doubt=f"nobody in sight calls `{training.name}`: a caller may update the scaler",
                unless=_UPDATES,
            )
