"""Methods of the program that a framework calls: in which loop, and what it does with what they return."""

from __future__ import annotations

import re
from contextlib import nullcontext
from typing import TYPE_CHECKING

from trainlint.facts.api import frameworks as owners
from trainlint.facts.ask.loaders import Purpose, purpose_of
from trainlint.facts.ask.schedules import optimizers, schedulers
from trainlint.facts.model.events.event import Returned
from trainlint.facts.model.events.frameworks import Configured, StepMethod
from trainlint.facts.model.events.steps import Backward
from trainlint.facts.model.values import Choice, Constant, Items, Object, Value
from trainlint.program.evaluate import (
    batch_making,
    classes,
    declared,
    handed_back,
    keys,
    loops,
    presumed_losses,
)
from trainlint.program.evaluate.values import Arguments, ClassValue, FunctionValue

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator

_LOADER = re.compile(r"(loader|_dl)$")
"""What methods are called that give a loader."""


def enter(ev: Evaluator, function: FunctionValue, receiver: Value | None) -> None:
    """Call a function that nothing in the program calls; one that a framework calls, as that would."""
    given = Arguments((receiver,) if receiver is not None else (), open=True)
    role = _role(function, receiver)
    if role is None and presumed_losses.is_loss(function, receiver):
        presumed_losses.called(ev, function, receiver)
    elif role is None or not isinstance(receiver, Object):
        _make_training_loader_first(ev, function, receiver)
        batch_making.note_items(ev, function, receiver)
        result = ev.call_function(function, given, function.origin.code.at, receiver)
        owner = receiver if isinstance(receiver, Object) else None
        ev.emit(Returned, function.origin.code.at, value=result, receiver=owner)
        presumed_losses.returned(ev, function, result)
        for made in (result, *handed_back.called(ev, result, function.origin.code.at)):
            batch_making.note(ev, made, function.origin.code.at)
    elif role == "configures":
        configured(ev, function, given, receiver)
    else:
        for_each_batch(ev, function, _with_batch(ev, function, given, receiver), receiver)


def _with_batch(ev: Evaluator, function: FunctionValue, given: Arguments, receiver: Object) -> Arguments:
    """What Lightning hands to a method: for each batch, what a loader gives."""
    batch = batch_of(ev, function) if receiver.is_a(owners.LIGHTNING) else None
    return given if batch is None else Arguments((receiver, batch), open=True)


def batch_of(ev: Evaluator, function: FunctionValue) -> Value | None:
    """A batch of a loader that is not in sight; None where a method takes none, or declares what it is."""
    code = function.origin.code
    if len(code.parameters) < 2:
        return None
    batch = code.parameters[1]
    if batch.star or declared.parameter(ev, function, batch.annotation) is not None:
        return None
    return ev.op("iterate", (ev.unknown("loader"),), code.at, batch.name)


def _make_training_loader_first(ev: Evaluator, function: FunctionValue, receiver: Value | None) -> None:
    """Who is asked for the loader of held-out data has been asked for the other one, of the same data."""
    if not isinstance(receiver, Object) or not _gives_loader(function, "evaluate"):
        return
    for name in _names_of_methods(ev, receiver):
        first = _in_class(ev, receiver, name)
        if isinstance(first, FunctionValue) and _gives_loader(first, "train"):
            ev.call_function(first, Arguments((receiver,)), first.origin.code.at, receiver)
            return


def _gives_loader(function: FunctionValue, what: Purpose) -> bool:
    """Whether a method is there to give the loader for a purpose, and is asked for it without anything else."""
    code = function.origin.code
    needed = [one for one in code.parameters[1:] if one.default is None and not one.star]
    is_method = function.owner is not None and function.kind in ("function", "property")
    return (
        is_method and not needed and _LOADER.search(code.name) is not None and purpose_of(code.name) == what
    )


def _names_of_methods(ev: Evaluator, receiver: Object) -> list[str]:
    """The names of the methods of an object's class, in their order."""
    cls = receiver.definition
    return [one.name for one in classes.methods(ev, cls)] if isinstance(cls, ClassValue) else []


def _in_class(ev: Evaluator, receiver: Object, name: str) -> Value | None:
    """What the class of an object, or one that it inherits from, gives a name."""
    cls = receiver.definition
    return classes.class_attribute(ev, cls, name) if isinstance(cls, ClassValue) else None


def configured(ev: Evaluator, function: FunctionValue, given: Arguments, receiver: Object) -> None:
    """A framework asks for optimizers and schedules."""
    at = function.origin.code.at
    result = ev.call_function(function, given, at, receiver)
    automatic, names = is_automatic(ev, receiver), _names(ev, receiver)
    ev.store.set((receiver.uid, keys.CONFIGURED), result)
    if automatic is False:
        _keep(ev, receiver, result)
    with ev.module_frame(function.origin.env.path):
        ev.emit(Returned, at, value=result)
        working = _names(ev, receiver, leaving_out="__init__")
        ev.emit(
            Configured,
            at,
            receiver=receiver,
            returns=result,
            automatic=automatic,
            names=names,
            working=working,
        )


def _keep(ev: Evaluator, receiver: Object, result: Value) -> None:
    """What `self.optimizers()` and `self.lr_schedulers()` give from here on: one, or a list of several."""
    for key, found in ((keys.OPTIMIZERS, optimizers(result)), (keys.SCHEDULES, schedulers(result))):
        if found:
            kept = found[0] if len(found) == 1 else Items(kind="list", items=list(found))
            ev.store.set((receiver.uid, key), kept)


def _configure_first(ev: Evaluator, receiver: Object) -> None:
    """A framework has asked for the optimizers before the first batch: who steps by hand gets them from it."""
    automatic = is_automatic(ev, receiver)
    own = _in_class(ev, receiver, "configure_optimizers")
    if not isinstance(own, FunctionValue) or ev.store.get((receiver.uid, keys.OPTIMIZERS)) is not None:
        return
    at = own.origin.code.at
    if automatic is True:
        if ev.store.get((receiver.uid, keys.CONFIGURED)) is None:
            configured(ev, own, Arguments((receiver,)), receiver)
    elif automatic is False and "optimizers" in _names(ev, receiver):
        result = ev.call_function(own, Arguments((receiver,)), at, receiver)
        _keep(ev, receiver, result)
        ev.emit(Returned, at, value=result)  # `self.lr_schedulers()` gives its schedules to any other method


def for_each_batch(
    ev: Evaluator, function: FunctionValue, given: Arguments, receiver: Object, looped: bool = False
) -> None:
    """A framework calls a method for each batch, in a loop of its own, or in one that stands around it."""
    at, name, role = function.origin.code.at, function.origin.code.name, _role(function, receiver)
    if receiver.is_a(owners.LIGHTNING):
        _configure_first(ev, receiver)
    with ev.module_frame(function.origin.env.path), nullcontext() if looped else loops.loop(ev, at):
        with ev.inside(records=False) if role == "evaluates" else nullcontext():
            result = ev.call_function(function, given, at, receiver)
        if role != "returns-loss":
            return
        automatic, names = is_automatic(ev, receiver), _names(ev, receiver)
        # of several results, nobody knows which is for a framework that may or may not train
        if automatic or (automatic is None and not isinstance(result, Choice)):
            ev.emit(Backward, at, loss=result, accumulates=False, by_framework=True)
        ev.emit(
            StepMethod, at, receiver=receiver, name=name, returns=result, automatic=automatic, names=names
        )


def _role(function: FunctionValue, receiver: Value | None) -> str | None:
    bases = receiver.bases if isinstance(receiver, Object) else frozenset()
    name = function.origin.code.name
    return next((role for base in bases if (role := owners.METHODS.get(base, {}).get(name))), None)


def _names(ev: Evaluator, receiver: Object, leaving_out: str = "") -> frozenset[str]:
    """The names in all methods of the object's class but those that are there to configure."""
    if not isinstance(receiver.definition, ClassValue):
        return frozenset()
    others = owners.CONFIGURES | {leaving_out}
    found = [one for one in classes.methods(ev, receiver.definition) if one.name not in others]
    return frozenset().union(*(one.names for one in found))


def is_automatic(ev: Evaluator, receiver: Object) -> bool | None:
    """Whether the framework zeroes, runs backward and steps for an object; None where that is open."""
    held = ev.store.get((receiver.uid, owners.AUTOMATIC))
    if held is None:
        held = _in_class(ev, receiver, owners.AUTOMATIC)
        if isinstance(held, FunctionValue):
            held = ev.call_function(held, Arguments((receiver,)), held.code.at, receiver)
    if held is None:
        return True
    return bool(held.value) if isinstance(held, Constant) and not held.is_default else None
