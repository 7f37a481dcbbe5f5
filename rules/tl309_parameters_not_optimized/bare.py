"""Parameters that stand alone, in no module: the weights of the terms of a loss, or a temperature, that no optimizer holds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from trainlint.facts.api.classes import MODULE, PARAMETER
from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.attachment import cuts
from trainlint.facts.ask.escapes import given_to_trainers
from trainlint.facts.ask.helpers import is_in_sight
from trainlint.facts.ask.interference import uses_gradients
from trainlint.facts.ask.stepped import modules_held
from trainlint.facts.model.events.event import Returned
from trainlint.facts.model.events.steps import Backward, OptimizerStep
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, Op, Value, alternatives, constant
from trainlint.finding import Place

_MOST = 1_000
"""Values that are looked at behind the losses: the weight of a term stands near."""


class Bare(NamedTuple):
    """A parameter, and the optimizer that should hold it."""

    at: Place
    optimizer: Place


def bare_left_out(training: Training) -> Bare | None:
    """A parameter that a program makes outside of all modules, that a loss is made of, and that nothing in sight updates."""
    steps = [one for step in training.events(OptimizerStep) for one in alternatives(step.optimizer)]
    optimizers = [one for one in steps if isinstance(one, Object) and one.at is not None]
    if (
        not optimizers
        or len(optimizers) < len(steps)
        or not all(modules_held(one).complete for one in optimizers)
    ):
        return None
    if uses_gradients(training, None):
        return None
    found = [
        one
        for one in _behind_losses(training)
        if _learns_for_sure(one) and not _is_used_elsewhere(training, one)
    ]
    elsewhere = _numbers_elsewhere(training, optimizers) if found else set()
    left = next((one for one in found if one.uid not in elsewhere), None)
    at = optimizers[0].at
    return Bare(left.at, at) if left is not None and left.at is not None and at is not None else None


def _behind_losses(training: Training) -> Iterator[Op]:
    losses = [one.loss for one in training.events(Backward) if is_in_sight(one)]
    made = reached(losses, _recorded, most=_MOST)
    return (one for one in made if isinstance(one, Op) and one.name == PARAMETER)


def _recorded(value: Value) -> tuple[Value, ...]:
    is_cut = isinstance(value, Op) and (cuts(value) or value.name == PARAMETER)
    return () if is_cut else tuple(value.parts())


def _learns_for_sure(parameter: Op) -> bool:
    asked = parameter.option(1, "requires_grad")
    return asked is None or constant(asked) is True


def _is_used_elsewhere(training: Training, parameter: Op) -> bool:
    """Whether an object holds a parameter that another of its methods uses too."""
    return any(
        name in training.earlier.others
        for one in training.earlier.objects
        for name, value in one.attributes.items()
        if value is parameter
    )


def _numbers_elsewhere(training: Training, optimizers: list[Object]) -> set[int]:
    """Numbers of what optimizers hold, of what modules are made of, and of what code out of sight gets."""
    modules = [one for one in training.objects if one.is_a(MODULE)]
    values: list[Value] = [value for one in optimizers for value in (*one.args, *one.options.values())]
    values += [value for one in modules for value in (*one.attributes.values(), *one.args)]
    values += [*given_to_trainers(training)]
    values += [one.value for one in training.events(Returned)]
    return {one.uid for one in reached(values)}
