"""Models that are given adapters after their optimizer: it holds what they freeze, and none of the adapters."""

from __future__ import annotations

from typing import NamedTuple

from trainlint.facts.api.frameworks import ADAPTED
from trainlint.facts.ask.stepped import modules_held, numbers_held
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.events.steps import OptimizerStep
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, Value, alternatives
from trainlint.finding import Place


class Adapted(NamedTuple):
    """Where an optimizer is made, and where its model is given adapters later on."""

    optimizer: Place
    at: Place


def adapted_later(training: Training) -> Adapted | None:
    """An optimizer that steps, and that was made of a model before this was given adapters, with which it is called."""
    called = {one.module.uid for one in training.events(Forward) if isinstance(one.module, Object)}
    stepped = [one for step in training.events(OptimizerStep) for one in alternatives(step.optimizer)]
    for made in training.objects:
        base = made.argument(0, "model") if made.is_a(ADAPTED) else None
        if base is None or made.at is None or made.uid not in called:
            continue
        for one in stepped:
            if (
                isinstance(one, Object)
                and one.at is not None
                and one.uid < made.uid
                and _holds_only(training, one, base)
            ):
                return Adapted(one.at, made.at)
    return None


def _holds_only(training: Training, optimizer: Object, base: Value) -> bool:
    modules, complete = modules_held(optimizer)
    held = [one for module in modules for one in alternatives(module)]
    return complete and held == [base] and base.uid in numbers_held(training, optimizer)
