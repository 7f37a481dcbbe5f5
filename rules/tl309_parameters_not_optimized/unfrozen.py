"""Parts that are unfrozen after the optimizer was made of what was trainable then."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from trainlint.facts.api.classes import OPTIMIZER
from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.escapes import given_away
from trainlint.facts.ask.holding import is_part_of
from trainlint.facts.model.events.parameters import RequiresGrad
from trainlint.facts.model.events.steps import OptimizerStep
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Constant, Items, Object, Op, Table, Value, alternatives, constant
from trainlint.finding import Place


class Unfrozen(NamedTuple):
    """Parameters that are made trainable, and an optimizer that does not hold them, by their places."""

    at: Place
    optimizer: Place


def unfrozen(training: Training) -> Unfrozen | None:
    """A part of a model that is frozen, left out of the only optimizer for that reason, and later unfrozen."""
    steps = training.events(OptimizerStep)
    optimizers = {one.uid: one for step in steps for one in alternatives(step.optimizer)}
    optimizers |= {one.uid: one for one in training.objects if one.is_a(OPTIMIZER)}
    optimizer = next(iter(optimizers.values()), None)
    if len(optimizers) != 1 or not isinstance(optimizer, Object) or optimizer.at is None:
        return None
    changes = training.events(RequiresGrad)
    frozen = [one for one in changes if _is_before(one, optimizer) and constant(one.wanted) is False]
    later = [one for one in changes if not _is_before(one, optimizer)]
    if not frozen or any(constant(one.wanted) is not True for one in later):
        return None
    for change in later:
        part = _part(change.target)
        was_frozen = part is not None and any(_covers(_part(one.target), part) for one in frozen)
        if not was_frozen or part is None or _may_hold(training, optimizer, part):
            continue
        if any(training.is_after(step, change) or set(step.loops) & set(change.loops) for step in steps):
            is_shared = any(one.at == change.at for one in frozen)  # a helper that does both
            at = change.calls[-1] if is_shared and change.calls else change.at
            return Unfrozen(at, optimizer.at)
    return None


def _is_before(change: RequiresGrad, optimizer: Object) -> bool:
    """Whether parameters are changed before an optimizer is made; those of a module at once may be at any time."""
    return isinstance(change.target, Op) and change.target.uid < optimizer.uid


def _part(target: Value) -> Value | None:
    """The module, or the attribute of one, all of whose parameters a value stands for."""
    match target:
        case Op(name="iterate", inputs=(Op(name="parameters", inputs=(module, *_)),)):
            return module
    return None


def _covers(outer: Value | None, inner: Value) -> bool:
    """Whether a module is another one, or certainly holds it."""
    if isinstance(outer, Object) and isinstance(inner, Object):
        return is_part_of(inner, outer)
    return outer is not None and any(one is outer for one in _with_holders(inner))


def _with_holders(module: Value) -> Iterator[Value]:
    """A module, and those that it is an attribute of."""
    yield module
    while isinstance(module, Op) and module.name in ("getattr", "getitem") and module.inputs:
        module = module.inputs[0]
        yield module


def _may_hold(training: Training, optimizer: Object, part: Value) -> bool:
    """Whether an optimizer may have a part of a model among its parameters, though that was frozen when it was made."""
    handed = given_away(training)
    made_of = list(reached(_given(optimizer), _taken))
    lists = [one for one in made_of if isinstance(one, Op) and one.name == "parameters"]
    is_known = lists and all(isinstance(one, (Items, Table, Constant)) or _is_taken(one) for one in made_of)
    if not is_known or optimizer in handed:
        return True
    are_chosen = any(_chooses(one) for one in made_of)
    return any(
        _covers(part, one.inputs[0])
        or (_covers(one.inputs[0], part) and (one.uid > optimizer.uid or not are_chosen))
        for one in lists
    )


def _given(optimizer: Object) -> list[Value]:
    """What lists parameters among what an optimizer was made with."""
    maker = optimizer.stands_for
    given = [*optimizer.args[:1], *(one for name, one in optimizer.options.items() if name == "params")]
    if isinstance(maker, Op):
        given += [one for one in maker.parts() if any(_lists(inner) for inner in reached([one], _taken))]
    return given


def _lists(value: Value) -> bool:
    return isinstance(value, Op) and value.name == "parameters"


def _is_taken(value: Value) -> bool:
    return isinstance(value, Op) and value.name in ("parameters", "filter", "iterate", "getitem", "items")


def _taken(value: Value) -> Sequence[Value]:
    """What a list of parameters is taken from."""
    if isinstance(value, Op):
        return () if value.name == "parameters" or not _is_taken(value) else value.inputs[:1]
    return value.parts()


def _chooses(value: Value) -> bool:
    """Whether it leaves out what did not require a gradient."""
    return (isinstance(value, Items) and value.are_trainable) or (
        isinstance(value, Op) and value.name == "filter"
    )
