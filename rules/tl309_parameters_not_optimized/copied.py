"""Copies that are trained in the place of the model whose parameters an optimizer holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from trainlint.facts.api.classes import MODULE, PARAMETER
from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.helpers import is_in_sight
from trainlint.facts.ask.holding import has_parameters, is_part_of
from trainlint.facts.ask.interference import may_set_gradients, may_touch
from trainlint.facts.ask.stepped import modules_held
from trainlint.facts.ask.unseen_models import made_as
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.events.modules import StateLoaded
from trainlint.facts.model.events.steps import Backward, OptimizerStep
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, Op, Value, alternatives, constant
from trainlint.finding import Place

from .compared import recorded


class TrainedCopy(NamedTuple):
    """A copy that gets the gradients, of a model that the optimizer holds and nothing calls.

    Args:
        optimizer: where that is made.
        copy: where the model is copied.
    """

    optimizer: Place
    copy: Place


def copy_trained(training: Training) -> TrainedCopy | None:
    """An optimizer that holds a model, where all losses that it steps after are of a copy of that, which none holds."""
    called = {one.module.uid: one.module for one in training.events(Forward)}
    if training.is_cut or all(_origin(made_as(one)) is None for one in called.values()):
        return None
    steps = training.events(OptimizerStep)
    held = [model for step in steps for model in _models(step.optimizer)]
    if not held or may_set_gradients(training, None):
        return None
    losses = {loops: _copies_beside(training, loops) for loops in {one.loops[-1:] for one in steps}}
    for step in steps:
        optimizer, models = step.optimizer, list(_models(step.optimizer))
        found = losses[step.loops[-1:]]
        copies = [one for some in found for one in some or ()]
        if (
            not (models and copies and all(found))
            or not isinstance(optimizer, Object)
            or optimizer.at is None
        ):
            continue
        is_of_it = all(any(_is_copy_of(one, model) for model in models) for one in copies)
        is_held = any(_is_within(one, model) for one in copies for model in held)
        if is_of_it and not is_held and _is_left_alone(training, optimizer, models):
            at = next((one.at for one in copies if one.at is not None), None)
            return TrainedCopy(optimizer.at, at) if at is not None else None
    return None


def _models(optimizer: Value) -> Iterator[Value]:
    """The models that an optimizer holds, where that is all that it holds."""
    modules, complete = modules_held(optimizer)
    if complete:
        yield from (made_as(one) for module in modules for one in alternatives(module))


def _copies_beside(training: Training, loops: tuple[int, ...]) -> list[list[Object | Op] | None]:
    """The copies of models that each loss is made of whose gradients a step in a loop may use, or one in none."""
    around = training.around(loops, Backward)
    return [_copies(one.loss) for one in around if is_in_sight(one)]


def _copies(loss: Value) -> list[Object | Op] | None:
    """The copies of models that a loss is made of; None where anything else in it may learn."""
    found: dict[int, Object | Op] = {}
    for one in reached([loss], _up_to_copies):
        copy = _called_copy(one)
        if copy is not None:
            found[copy.uid] = copy
        elif _may_learn(one):
            return None
    return list(found.values())


def _up_to_copies(value: Value) -> Sequence[Value]:
    return () if _called_copy(value) is not None else recorded(value)


def _called_copy(value: Value) -> Object | Op | None:
    """The copy whose output a value is."""
    match value:
        case Op(name="output", owner=Object() as called) | Op(name="call", owner=None, inputs=(called, *_)):
            made = made_as(called)
            return made if isinstance(made, (Object, Op)) and _origin(made) is not None else None
    return None


def _origin(model: Value) -> Value | None:
    """What `copy.deepcopy` has made a model of."""
    match model:
        case Object(copy_of=Object() as origin):
            return made_as(origin)
        case Op(name="copy", inputs=(origin, *_)) if constant(model.options.get("deep")) is True:
            return made_as(origin)
    return None


def _may_learn(value: Value) -> bool:
    if not isinstance(value, Op) or value.records is False:
        return False
    owner = value.owner
    if owner is None:
        return value.name in ("call", PARAMETER, "parameters")
    return owner.is_open or (owner.is_a(MODULE) and has_parameters(owner) is not False)


def _is_copy_of(copy: Value, model: Value) -> bool:
    origin: Value | None = _origin(copy)
    while origin is not None and origin is not model:
        origin = _origin(origin)
    return origin is not None


def _is_within(model: Value, other: Value) -> bool:
    """Whether a model is another one or a part of it."""
    if isinstance(model, Object) and isinstance(other, Object):
        return is_part_of(model, other)
    return model is other


def _is_left_alone(training: Training, optimizer: Object, models: list[Value]) -> bool:
    """Whether nothing calls the models of an optimizer with gradients, gives them the weights of others, or may do either."""
    called = [made_as(one.module) for one in training.events(Forward) if one.records is not False]
    loaded = [one for event in training.events(StateLoaded) for one in alternatives(event.target)]
    return not may_touch(training, optimizer, None) and not any(
        _is_within(model, made_as(one)) or _is_within(made_as(one), model)
        for model in models
        for one in (*called, *loaded)
        if not _is_copy_of(made_as(one), model)
    )
