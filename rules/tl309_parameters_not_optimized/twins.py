"""Optimizers of several models, one of which was given another model's parameters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from trainlint.facts.api.classes import MODULE, SOME_LOSS
from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.holding import has_parameters, is_part_of
from trainlint.facts.ask.interference import may_set_gradients
from trainlint.facts.ask.stepped import modules_held
from trainlint.facts.ask.unseen_models import made_as
from trainlint.facts.model.events.modules import Built
from trainlint.facts.model.events.steps import Backward, OptimizerStep
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, Op, Value, alternatives, compatible
from trainlint.finding import Place

from .compared import recorded


class Mistaken(NamedTuple):
    """An optimizer with the parameters of another one, beside a loss of which no optimizer holds anything.

    Args:
        at: where it is made.
        backward: where the gradients are made that nothing uses.
    """

    at: Place
    backward: Place


def mistaken(training: Training) -> Mistaken | None:
    """An optimizer whose models another one holds too, and that steps after a loss of other models, which are in none.

    It is no matter where models and optimizers are made: a method that trains shows both, and what an optimizer of these
    other models would have to step in.
    """
    steps = training.events(OptimizerStep)
    held = {one: _held(one) for step in steps for one in alternatives(step.optimizer)}
    if len(held) < 2 or not all(held.values()):
        return None
    twins = [(step, at) for step in steps for at in _twins(training, step, held)]
    stepped = [model for models in held.values() for model in models.values()]
    for backward in training.events(Backward) if twins else ():
        made = next((at for step, at in twins if training.is_after(step, backward)), None)
        if made is None:
            continue
        trained = list(_trained(backward.loss))
        is_left = trained and not any(_may_be_of(one, other) for one in trained for other in stepped)
        if is_left and not _is_trained_by_hand(training, backward, trained):
            return Mistaken(made, backward.at)
    return None


def _is_trained_by_hand(training: Training, backward: Backward, models: list[Value]) -> bool:
    """Whether code may write parameters of some models itself where they are trained. What is not in sight, as a buffer of
    batches, is no model whose parameters are written in sight. A copy of a model, as a target network is, may still have the
    same layers here, so only whole models are compared."""
    seen = [one for one in models if isinstance(one, Object)]
    whole = [one for one in seen if not any(one is not other and is_part_of(one, other) for other in seen)]
    loop = backward.loops[0] if backward.loops else None
    return may_set_gradients(training, loop, whole or None)


def _held(optimizer: Value) -> dict[int, Value]:
    """The models of which an optimizer holds all parameters; none where it may hold anything else."""
    modules, complete = modules_held(optimizer)
    found = [made_as(one) for module in modules for one in alternatives(module)]
    return {one.uid: one for one in found} if complete else {}


def _twins(training: Training, step: OptimizerStep, held: dict[Value, dict[int, Value]]) -> Iterator[Place]:
    """Where the optimizer of a step is made like another one, beside it: of the same class, in another place, for the same
    models."""
    one = step.optimizer
    if not isinstance(one, Object) or not _is_of_all(one):
        return
    for other, models in held.items():
        if isinstance(other, Object) and _is_of_all(other) and other.type == one.type:
            at = made_apart(one, other)
            is_twin = at is not None and models.keys() == held[one].keys()
            if at is not None and is_twin and are_made_together(training, one, other):
                yield at


def are_made_together(training: Training, one: Object, other: Object) -> bool:
    """Whether both of two objects may be made: not where each is under a condition that rules out the other."""
    made = {event.object.uid: event.guards for event in training.events(Built)}
    return compatible(made.get(one.uid, ()), made.get(other.uid, ()))


def made_apart(one: Object, other: Object) -> Place | None:
    """Where an object is made, or where the helper that makes it is called, if the other one is made elsewhere."""
    places = zip((*one.calls, one.at), (*other.calls, other.at), strict=False)
    return next((here for here, there in places if here != there), None)


def _is_of_all(optimizer: Object) -> bool:
    """Whether an optimizer is given the parameters of a module as they are: each of two groups may hold some of them."""
    given = optimizer.argument(0, "params")
    return isinstance(given, Op) and given.name == "parameters"


def _trained(loss: Value) -> Iterator[Value]:
    """The modules that a loss has gradients for, those included of which only the call is seen."""
    for one in reached([loss], recorded):
        match one:
            case Op(owner=Object() as owner) if owner.is_a(MODULE) and recorded(one) and _may_learn(owner):
                yield owner
            case Op(name="call", owner=None, inputs=(called, *_)):
                made = made_as(called)
                if not isinstance(made, Op) or _is_class(made.name):
                    yield made


def _may_learn(module: Object) -> bool:
    """Whether a module may have parameters: what compares a prediction with its target has none."""
    return module.type != SOME_LOSS and has_parameters(module) is not False


def _is_class(name: str) -> bool:
    """Whether a name out of sight is that of a class, and of no loss."""
    last = name.rpartition(".")[2]
    return last[:1].isupper() and not any(word in last.lower() for word in ("loss", "criterion"))


def _may_be_of(module: Value, other: Value) -> bool:
    """Whether two modules may share parameters: one is the other, a part of the other, or made of it out of sight."""
    first = made_as(module)
    if any(made_as(one) is other for one in reached([first], most=100)):
        return True
    if any(made_as(one) is first for one in reached([other], most=100)):
        return True
    if not (isinstance(module, Object) and isinstance(other, Object)):
        return False
    return is_part_of(module, other) or is_part_of(other, module)
