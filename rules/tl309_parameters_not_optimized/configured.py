"""Layers of a module that a framework trains, and that are in none of the optimizers that the module gives it."""

from __future__ import annotations

from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.freezing import may_be_frozen
from trainlint.facts.ask.holding import numbers_inside
from trainlint.facts.ask.schedules import optimizers as optimizers_in
from trainlint.facts.ask.stepped import modules_held, numbers_held
from trainlint.facts.model.events.frameworks import Configured, StepMethod
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, Op, Value, alternatives

from .compared import recorded
from .left_out import LeftOut, layers_trained
from .loose import with_own_parameters

_OTHERWISE = frozenset(
    "add_param_group freeze named_parameters optimizer_step parameters requires_grad requires_grad_ toggle_optimizer "
    "unfreeze".split()
)
"""Names in the methods of a class that may freeze its layers, or train them in another way. What its constructor freezes is
known."""
_LOADS = frozenset(("load_from_checkpoint", "load_state_dict", "freeze"))
"""Names in any method after which layers may be meant to stay as they are."""


def configured_left_out(training: Training) -> LeftOut | None:
    """What the loss of an automatic step reaches, while the optimizers of that module hold other layers of it."""
    given = {one.receiver: one for one in training.events(Configured) if one.automatic is True}
    for step in training.events(StepMethod):
        asked = given.get(step.receiver)
        if asked is None or step.automatic is not True or not _LOADS.isdisjoint(asked.names):
            continue
        if not _OTHERWISE.isdisjoint(asked.working):
            continue
        found = _left_out(training, step, optimizers_in(asked.returns))
        if found is not None:
            return found
    return None


def _left_out(training: Training, step: StepMethod, optimizers: list[Object]) -> LeftOut | None:
    if not all(modules_held(one).complete for one in optimizers):
        return None
    held = frozenset().union(*(numbers_held(training, one) for one in optimizers), _handed_on(optimizers))
    inside = numbers_inside(step.receiver)
    reached_by = list(reached([step.returns], recorded))
    trained = [
        *layers_trained(step.returns),
        *with_own_parameters(training, reached_by, lambda one: one.uid in held),
    ]
    left = [
        one
        for one in trained
        if one.uid in inside - held and one.copy_of is None and not may_be_frozen(training, one)
    ]
    at = next((one.at for one in optimizers if one.at is not None), None)
    if at is None or not left or not any(_is_of(one, held) for one in reached_by):
        return None
    return LeftOut(at, left, is_part=True, is_body=True)


def _handed_on(optimizers: list[Object]) -> frozenset[int]:
    """The numbers of what modules that are held and not in sight were given when they were made: they may hold that."""
    modules = [
        one
        for optimizer in optimizers
        for module in modules_held(optimizer).modules
        for one in alternatives(module)
    ]
    made = [
        one.stands_for if isinstance(one, Object) and one.stands_for is not None else one for one in modules
    ]
    return frozenset(one.uid for one in reached(made))


def _is_of(value: Value, held: frozenset[int]) -> bool:
    """Whether a value is what a module gives that an optimizer holds."""
    return isinstance(value, Op) and value.owner is not None and value.owner.uid in held
