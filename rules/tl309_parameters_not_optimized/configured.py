"""Layers of a module that a framework trains, and that are in none of the optimizers that the module gives it."""

from __future__ import annotations

from trainlint.facts.ask.freezing import may_be_frozen
from trainlint.facts.ask.holding import numbers_inside
from trainlint.facts.ask.schedules import optimizers as optimizers_in
from trainlint.facts.ask.stepped import modules_held, numbers_held
from trainlint.facts.model.events.frameworks import Configured, StepMethod
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object

from .left_out import LeftOut, layers_trained

_OTHERWISE = frozenset(
    "add_param_group freeze load_from_checkpoint load_state_dict named_parameters optimizer_step parameters requires_grad "
    "requires_grad_ toggle_optimizer unfreeze".split()
)
"""Names in the methods of a class that may load or freeze its layers, or train them in another way."""


def configured_left_out(training: Training) -> LeftOut | None:
    """What the loss of an automatic step reaches, while the optimizers of that module hold other layers of it."""
    given = {one.receiver: one for one in training.events(Configured) if one.automatic is True}
    for step in training.events(StepMethod):
        asked = given.get(step.receiver)
        if asked is None or step.automatic is not True or not _OTHERWISE.isdisjoint(asked.names):
            continue
        found = _left_out(training, step, optimizers_in(asked.returns))
        if found is not None:
            return found
    return None


def _left_out(training: Training, step: StepMethod, optimizers: list[Object]) -> LeftOut | None:
    held: set[int] = set()
    for one in optimizers:
        if not modules_held(one).complete:
            return None
        held |= numbers_held(training, one)
    inside = numbers_inside(step.receiver)
    trained = [one for one in layers_trained(step.returns) if one.uid in inside and one.copy_of is None]
    left = [one for one in trained if one.uid not in held and not may_be_frozen(training, one)]
    at = next((one.at for one in optimizers if one.at is not None), None)
    if at is None or not left or len(left) == len(trained):
        return None
    return LeftOut(at, left, is_part=True, is_body=True)
