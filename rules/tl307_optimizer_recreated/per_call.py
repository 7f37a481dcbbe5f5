"""Optimizers that a method makes, steps once and forgets, whenever it is called."""

from __future__ import annotations

from collections.abc import Iterator

from trainlint.facts.api.classes import OPTIMIZER
from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.stepped import modules_held
from trainlint.facts.model.events.event import Escape
from trainlint.facts.model.events.modules import Built
from trainlint.facts.model.events.steps import OptimizerStep
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, Value, alternatives


def made_per_call(training: Training) -> Iterator[tuple[Built, OptimizerStep]]:
    """Each such optimizer of a model that its object keeps from call to call, with its one step."""
    if training.entry != "function":
        return
    for built in training.events(Built):
        optimizer = built.object
        if built.loops or not optimizer.is_a(OPTIMIZER) or training.is_in_test(built.at):
            continue
        steps = [one for one in training.events(OptimizerStep) if optimizer in alternatives(one.optimizer)]
        if len(steps) != 1 or steps[0].loops:
            continue
        if _models_stay(training, built) and not _is_kept(training, optimizer):
            yield built, steps[0]


def _models_stay(training: Training, built: Built) -> bool:
    """Whether all that it steps was made elsewhere, by the constructor or a caller, and not for this call."""
    modules, complete = modules_held(built.object)
    models = [one for module in modules for one in alternatives(module)]
    here = {one.object.uid for one in training.events(Built) if one.calls[:1] == built.calls[:1]}
    kept = {
        one.uid
        for holder in training.objects
        for value in holder.attributes.values()
        for one in alternatives(value)
    }
    return bool(models) and complete and all(one.uid not in here and one.uid in kept for one in models)


def _is_kept(training: Training, optimizer: Object) -> bool:
    """Whether something else has the optimizer once the method has returned."""
    values: list[Value] = [one.value for one in training.handed_out()]
    holders = [one for one in training.objects if one is not optimizer]
    values += [value for one in holders for value in one.attributes.values()]
    values += [value for one in training.events(Escape) for value in one.values]
    return any(one is optimizer for one in reached(values))
