"""Models that are made again after their optimizer: it goes on with the first one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from trainlint.facts.api.classes import MODULE
from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.escapes import given_away
from trainlint.facts.ask.helpers import is_in_sight
from trainlint.facts.ask.interference import may_set_gradients
from trainlint.facts.ask.stepped import modules_held
from trainlint.facts.ask.unseen_models import made_as
from trainlint.facts.model.events.calls import Called
from trainlint.facts.model.events.steps import Backward, OptimizerStep
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Choice, Object, Op, Value, alternatives
from trainlint.finding import Place

_MAKE_ANYTHING = (".instantiate", ".load", ".build_from_cfg", ".from_pretrained", ".create_model")
"""Ends of functions that make whatever they are asked for, models of other kinds too."""

_LOAD = "torch.load"
"""What gives a whole model, and another one than before."""


class MadeAgain(NamedTuple):
    """A model that is trained instead of the one whose parameters an optimizer holds.

    Args:
        optimizer: where that is made.
        model: where the later model is made.
        by: the function that is not in sight and makes both; empty for a class in sight, and for a model that is loaded.
    """

    optimizer: Place
    model: Place
    by: str


def made_again(training: Training) -> MadeAgain | None:
    """A model that what made the one in an optimizer makes again later, and that is trained in its place."""
    steps = training.events(OptimizerStep)
    optimizers = list(dict.fromkeys(one for step in steps for one in alternatives(step.optimizer)))
    if may_set_gradients(training, None) or not all(modules_held(one).complete for one in optimizers):
        return None
    first = [made_as(model) for one in optimizers for model in _models(one)]
    if not any(_may_be_made_again(training, one) for one in first):
        return None
    held = {one.uid for one in first}
    losses = {loops: _losses_beside(training, loops) for loops in {one.loops[-1:] for one in steps}}
    others = {loops: _not_among(held, found) for loops, found in losses.items()}
    for step in steps:
        if others[step.loops[-1:]]:
            found = _in_place_of(training, step, losses[step.loops[-1:]], others[step.loops[-1:]])
            if found is not None:
                return found
    return None


def _may_be_made_again(training: Training, model: Value) -> bool:
    """Whether a function that is not in sight makes a model, or there is another one of its class, or one is loaded."""
    if not isinstance(model, Object) or any(one.name == _LOAD for one in training.events(Called)):
        return True
    return model.definition is not None and any(
        one.definition is model.definition and one is not model for one in training.objects
    )


def _not_among(held: set[int], losses: list[Value]) -> list[Value]:
    """The models that are called on the way to some losses, but for those that optimizers hold, each once."""
    made = {one.uid: one for one in map(made_as, _called(reached(losses)))}
    return [one for number, one in made.items() if number not in held]


def _in_place_of(
    training: Training, step: OptimizerStep, losses: list[Value], others: list[Value]
) -> MadeAgain | None:
    """Which of some models is trained in the place of the only one that an optimizer holds."""
    optimizer, models = step.optimizer, list(_models(step.optimizer))
    if not isinstance(optimizer, Object) or optimizer.at is None or len(models) != 1:
        return None
    first = made_as(models[0])
    again = next((one for one in others if one.uid > optimizer.uid and _is_made_alike(first, one)), None)
    if not isinstance(again, (Object, Op)) or again.at is None or _is_handed_on(training, optimizer):
        return None
    if any(made_as(one).uid == first.uid for one in _used(reached(losses, _without_choices))):
        return None  # it is trained whatever the program is told
    by = again.name if isinstance(again, Op) and not _is_loaded(again) else ""
    return MadeAgain(optimizer.at, again.at, by)


def _models(optimizer: Value) -> Iterator[Value]:
    return (one for module in modules_held(optimizer).modules for one in alternatives(module))


def _losses_beside(training: Training, loops: tuple[int, ...]) -> list[Value]:
    """The losses whose gradients a step in a loop may use, or one in none."""
    around = training.around(loops, Backward)
    return [one.loss for one in around if is_in_sight(one)]


def _called(values: Iterable[Value]) -> Iterator[Value]:
    """The modules that are called on the way."""
    for one in values:
        match one:
            case Op(name="call", owner=None, inputs=(module, *_)):
                yield from alternatives(module)
            case Op(owner=Object() as module) if module.is_a(MODULE):
                yield module


def _used(values: Iterable[Value]) -> Iterator[Value]:
    """All that takes part on the way, whatever is done with it."""
    for one in values:
        yield one
        if isinstance(one, Op) and one.owner is not None:
            yield one.owner


def _without_choices(value: Value) -> Iterable[Value]:
    return () if isinstance(value, Choice) else value.parts()


def _is_made_alike(first: Value, again: Value) -> bool:
    """Whether a class in sight, or the same function of a library or another file, makes both, one not of the other; or a whole
    model is loaded."""
    match first, again:
        case _, Op() if _is_loaded(again):
            return True
        case Object(definition=None), Object():
            return False
        case Object(), Object():
            alike = first.definition is again.definition
        case Op(), Op():
            alike = first.name == again.name and "." in first.name and not first.name.endswith(_MAKE_ANYTHING)
        case _:
            return False
    return alike and all(one is not first for one in reached([again], _holds))


def _is_loaded(model: Value) -> bool:
    """Whether a model is what `torch.load` gives, or an entry of that."""
    while isinstance(model, Op) and model.name == "getitem" and model.inputs:
        model = model.inputs[0]
    return isinstance(model, Op) and model.name == "load"


def _holds(value: Value) -> Iterable[Value]:
    return (*value.attributes.values(), *value.args) if isinstance(value, Object) else value.parts()


def _is_handed_on(training: Training, optimizer: Object) -> bool:
    """Whether code that is not seen is given an optimizer: it may give it other parameters."""
    return any(one is optimizer for one in given_away(training))
