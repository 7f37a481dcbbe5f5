"""`value.name`, read and set, whatever the value is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainlint import limits
from trainlint.facts.api.classes import MODULE
from trainlint.facts.api.torch_names import is_like_requires_grad
from trainlint.facts.model.events.batches import PadIsEnd
from trainlint.facts.model.events.calls import AttributeSet, SettingChanged
from trainlint.facts.model.events.modules import StateKept
from trainlint.facts.model.events.steps import ZeroGrad
from trainlint.facts.model.values import Carried, Choice, Constant, Items, Object, Op, Unknown, Value, one_of
from trainlint.program.api import grad_modes
from trainlint.program.evaluate import (
    attributes,
    classes,
    containers,
    lived,
    names,
    namespaces,
    own_attributes,
)
from trainlint.program.evaluate.values import ClassValue, FileModule, Library, Super
from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator


def attribute(ev: Evaluator, value: Value, name: str, at: s.Span, text: str = "") -> Value:
    """`value.name`."""
    match value:
        case Library():  # `torch.torch` is torch
            return (
                value if value.name == name == "torch" else Library(name=f"{value.name}.{name}", is_held=True)
            )
        case FileModule() if name == "__dict__":
            return namespaces.of_file(ev, value.path)
        case FileModule():
            return names.settle(ev, names.imported(ev, value.path, name))
        case Choice():
            found = [
                (guards, attribute(ev, one, name, at, text))
                for guards, one in value.options[: limits.MAX_OPTIONS_CALLED]
            ]
            return one_of(tuple(found))
        case ClassValue():
            return classes.class_attribute(ev, value, name) or _unknown_attribute(ev, value, name)
        case Super():
            return classes.super_attribute(ev, value, name)
        case Object():
            held = ev.store.get((value.uid, name))
            if isinstance(held, (Constant, Items)):
                held = lived.in_use(ev, value, name, held)
            if held is not None:
                return names.settle(ev, held)
            if name == "__dict__":
                return namespaces.of_object(ev, value)
            return classes.object_attribute(ev, value, name, at)
        case Carried():
            held = ev.store.get((value.uid, name))
            if held is not None:
                return held
            if name in grad_modes.OF_GRAPH:  # of what the last iteration has left, too
                return attributes.value_attribute(ev, value, name, at, text)
            return attribute(ev, value.start, name, at, text)
        case _:
            held = ev.store.get((value.uid, name))
            if held is not None:
                return names.settle(ev, held)
            known = grad_modes.attribute(value, name)
            return known or attributes.value_attribute(ev, value, name, at, text)


def _unknown_attribute(ev: Evaluator, value: Value, name: str) -> Value:
    missing = Unknown(text=name, loops=())
    ev.store.set((value.uid, name), missing)
    return missing


def _note(ev: Evaluator, target: Value, name: str, value: Value, at: s.Span, is_certain: bool) -> None:
    """Attributes of which rules ask something, by their names or by what they become."""
    is_layer = isinstance(target, Object) and MODULE in target.bases and target.definition is None
    is_misspelt = is_like_requires_grad(name) and not ev.is_read(name)
    if is_misspelt or (is_layer and is_certain and name == "requires_grad"):
        ev.emit(AttributeSet, at, target=target, name=name, value=value)
    state = attributes.state_in(value)
    if state is not None:
        ev.emit(StateKept, at, attribute=name, state=state)
    if name in ("pad_token", "pad_token_id") and attributes.is_end_token(value):
        ev.emit(PadIsEnd, at, tokenizer=target)


def _note_on_tensor(ev: Evaluator, target: Op, name: str, value: Value, at: s.Span) -> None:
    """Attributes of tensors, and of what is not known."""
    if name in ("transform", "transforms"):
        ev.emit(SettingChanged, at, name=name, value=value, target=target)
    if name in attributes.GRADIENT_FUNCTIONS:
        ev.store.touch(target)
        target.hung_on = value
    attributes.written_by_hand(ev, target, name, at)
    if name == "grad":
        attributes.gradient_set(ev, target, value, at)


def set_attribute(
    ev: Evaluator, target: Value, name: str, value: Value, at: s.Span, is_certain: bool = True
) -> None:
    """`target.name = value`, where the target certainly is this value, or may be.

    Documentation that a program writes is not kept: nothing about training follows from it, and decorators put much of it
    together.
    """
    if name == "__doc__":
        return
    if isinstance(target, Choice):
        for _, one in target.options:
            set_attribute(ev, one, name, value, at, is_certain=False)
        return
    if isinstance(target, Object) and target.definition is not None and name in target.definition.answers:
        own_attributes.set_by_property(ev, target, name, value, at)
        return
    if isinstance(value, Constant) and ev.loops:  # a value of its own, for when it was set matters
        value = Constant(value=value.value, at=value.at, is_default=value.is_default)
    if name == "__dict__" and isinstance(target, Object):
        namespaces.replaced(ev, target, value)
    _note(ev, target, name, value, at, is_certain)
    attributes.note_entrusted(ev, target, value, at)
    if name == "_grad" and isinstance(target, Op):
        name = "grad"  # what lies behind it
    if name == "grad" and attributes.is_nothing(value):
        ev.emit(ZeroGrad, at, target=attributes.holder_of(target))
    elif name == "requires_grad":
        attributes.set_requires_grad(ev, target, value, at, assignment=True)
    elif isinstance(target, Op):
        _note_on_tensor(ev, target, name, value, at)
    elif isinstance(target, Object):
        classes.note_registration(ev, target, name, value, at)
        containers.note_part(ev, target, name, value)
    elif isinstance(target, Library):
        ev.emit(SettingChanged, at, name=f"{target.name}.{name}", value=value)
    _keep(ev, target, name, value)


def _keep(ev: Evaluator, target: Value, name: str, value: Value) -> None:
    """From here on `target.name` is this value."""
    if isinstance(target, FileModule):
        names.bind(ev, name, value, ev.module(target.path))
    elif isinstance(target, ClassValue):
        ev.store.set((target.env.uid, name), value)
    elif name != "grad" or not isinstance(target, Op):  # which backward() changes
        ev.store.set((target.uid, name), value)
