"""Which losses train what an optimizer steps."""

from __future__ import annotations

from collections.abc import Iterable

from trainlint.facts.api.classes import MODULE, OPTIMIZER, PARAMETER
from trainlint.facts.api.gradients import NO_GRADIENT
from trainlint.facts.ask.asking import question, reached
from trainlint.facts.ask.attachment import attachment, cuts
from trainlint.facts.ask.contents import handed_over
from trainlint.facts.ask.holding import numbers_inside
from trainlint.facts.ask.stepped import modules_stepped
from trainlint.facts.model.events.event import Escape
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.events.parameters import ParametersListed
from trainlint.facts.model.events.steps import Backward, OptimizerStep
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, Op, Value, alternatives

_OF_ANY_MODULE = (PARAMETER, "parameters")
"""Operations that may give the parameters of any module."""

_ANY = -1
"""Stands for the numbers of modules that are not known."""


def may_train(training: Training, backward: Backward, optimizer: Value) -> bool:
    """Whether a loss may depend on what an optimizer steps, or may be meant to: that of a discriminator tells nothing of a
    generator that has a loss of its own, if it is certain what both are made of."""
    way = attachment(backward.loss)
    if backward.by_framework or way.uncertain or not way.attached:
        return True
    numbers = _numbers_stepped(training, optimizer)
    if numbers is None:
        return True
    found = trained(backward.loss)
    if not found:
        return True  # a loss that was cut off: it trains nothing, and tells nothing
    return _ANY in found or not found.isdisjoint(numbers) or not has_loss(training, numbers)


def trains_others(training: Training, backward: Backward, optimizer: Value) -> bool:
    """Whether the gradients of a loss reach modules, none of which is one that an optimizer steps, as far as is known."""
    numbers, found = _numbers_stepped(training, optimizer), trained(backward.loss)
    return numbers is not None and bool(found) and found.isdisjoint(numbers | {_ANY})


@question(start=False, unknown=True)
def may_train_something(training: Training) -> bool:
    """Whether anything is trained in sight, or a module or its parameters are handed to code that may train them."""
    return bool(
        training.events(Backward)
        or training.events(OptimizerStep)
        or training.events(ParametersListed)
        or any(one.is_a(OPTIMIZER) for one in training.objects)
        or any(
            isinstance(one, Object) and one.is_a(MODULE)
            for escape in training.events(Escape)
            for value in escape.values
            for one in handed_over(value)
        )
    )


@question(start=None, unknown=None)
def _numbers_stepped(training: Training, optimizer: Value) -> frozenset[int] | None:
    """The numbers of the modules that an optimizer steps, and of all in them; None where one is not known."""
    modules = [one for module in modules_stepped(training, optimizer) for one in alternatives(module)]
    known = [one for one in modules if isinstance(one, Object) and not one.is_open]
    if not known or len(known) < len(modules):
        return None
    return frozenset(number for one in known for number in (one.uid, *numbers_inside(one)))


def has_loss(training: Training, modules: frozenset[int]) -> bool:
    """Whether a loss is computed whose gradient would reach one of some modules, which have these numbers."""
    return not _with_a_loss(training).isdisjoint(modules | {_ANY})


@question(start=frozenset(), unknown=frozenset())
def _with_a_loss(training: Training) -> frozenset[int]:
    return _owners(one.output for one in training.events(LossCall))


@question(start=frozenset(), unknown=frozenset())
def trained(loss: Value) -> frozenset[int]:
    """The numbers of the modules that the gradients of a loss reach, and of what stands for those that are not known."""
    return _owners([loss])


def _owners(losses: Iterable[Value]) -> frozenset[int]:
    """The numbers of the modules that the gradients of losses would reach."""
    return frozenset(
        _ANY if one.name in _OF_ANY_MODULE or one.owner is None else one.owner.uid
        for one in reached(losses, _recorded)
        if isinstance(one, Op) and not _stops(one) and (one.name in _OF_ANY_MODULE or _is_of_module(one))
    )


def _is_of_module(op: Op) -> bool:
    return op.owner is not None and (op.owner.is_open or op.owner.is_a(MODULE))


def _recorded(value: Value) -> Iterable[Value]:
    return () if isinstance(value, Op) and _stops(value) else value.parts()


def _stops(op: Op) -> bool:
    return op.records is False or cuts(op) or op.name in NO_GRADIENT
