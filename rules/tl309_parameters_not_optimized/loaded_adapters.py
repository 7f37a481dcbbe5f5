"""Adapters that peft loads frozen, as for inference, and that an optimizer is to train."""

from __future__ import annotations

from typing import NamedTuple

from trainlint.facts.api.classes import MODULE, PARAMETER
from trainlint.facts.api.noted import CHANGES_ADAPTERS
from trainlint.facts.ask.escapes import given_away
from trainlint.facts.ask.freezing import may_belong
from trainlint.facts.ask.holding import contained, has_parameters, is_part_of
from trainlint.facts.ask.stepped import modules_held
from trainlint.facts.model.events.calls import Called
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.events.parameters import RequiresGrad
from trainlint.facts.model.events.steps import OptimizerStep
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, Op, Value, alternatives, constant
from trainlint.finding import Place


class Loaded(NamedTuple):
    """Where adapters are loaded, and where an optimizer is made of their model."""

    at: Place
    optimizer: Place


def loaded_frozen(training: Training) -> Loaded | None:
    """A model of peft's that is loaded without being asked to be trainable, and is all that an optimizer which steps holds."""
    loaded = [one for one in training.objects if _is_frozen(one)]
    stepped = [one for step in training.events(OptimizerStep) for one in alternatives(step.optimizer)]
    for model in loaded:
        for optimizer in stepped:
            if (
                isinstance(optimizer, Object)
                and optimizer.at is not None
                and model.at is not None
                and model.uid < optimizer.uid
                and _is_all_it_holds(training, optimizer, model)
                and not _may_be_thawed(training, model)
            ):
                return Loaded(model.at, optimizer.at)
    return None


def _is_frozen(made: Object) -> bool:
    library, _, name = made.type.partition(".")
    maker = name.rpartition("PeftModel")[2]
    if library != "peft" or not maker.endswith(".from_pretrained") or made.is_open:
        return False
    is_by_itself = "AutoPeftModel" in name
    asked = made.argument(2 if is_by_itself else 3, "is_trainable")
    return asked is None or constant(asked) is False


def _is_all_it_holds(training: Training, optimizer: Object, model: Object) -> bool:
    """Whether an optimizer has the parameters of a model, or of one that is nothing but this."""
    held, complete = modules_held(optimizer)
    wholes = [one for module in held for one in alternatives(module)]
    if not complete or not wholes or not all(_holds(one, model) for one in wholes):
        return False
    called = [one for forward in training.events(Forward) for one in alternatives(forward.module)]
    return any(_holds(one, model) for one in called) and not any(
        _has_more(one, model, called) for one in wholes
    )


def _holds(whole: Value, model: Object) -> bool:
    """Whether a value is a model, or has it as an attribute."""
    return isinstance(whole, Object) and (whole is model or _slots(whole, model) != [])


def _slots(whole: Object, model: Object) -> list[Value]:
    return [one for one in whole.attributes.values() if any(each is model for each in alternatives(one))]


def _has_more(whole: Value, model: Object, called: list[Value]) -> bool:
    """Whether what holds a model may have other parameters, beside what may stand in the same place."""
    if whole is model or not isinstance(whole, Object):
        return False
    slots = _slots(whole, model)
    others = (one for value in whole.attributes.values() if value not in slots for one in contained(value))
    return any(
        one.is_a(MODULE) and has_parameters(one) is not False
        if isinstance(one, Object)
        else any(one is each for each in called) or (isinstance(one, Op) and one.name == PARAMETER)
        for one in others
    )


def _may_be_thawed(training: Training, model: Object) -> bool:
    """Whether something may make its adapters trainable: a method of peft's, the program, or code that is not in sight."""
    given = [*given_away(training)]
    given += [one.args[0] for one in training.events(Called) if one.name in CHANGES_ADAPTERS and one.args]
    return any(isinstance(one, Object) and is_part_of(model, one) for one in given) or any(
        constant(one.wanted) is not False and may_belong(one.target, (model,))
        for one in training.events(RequiresGrad)
    )
