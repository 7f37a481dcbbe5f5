"""Attributes that code of the program answers: `__getattr__` of a wrapper around a model or optimizer, and properties."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainlint.facts.api.classes import MODULE
from trainlint.facts.api.module_names import MODULE_NAMES
from trainlint.facts.model.values import Constant, Object, Op, Unknown, Value, one_of, ways
from trainlint.program.evaluate import classes
from trainlint.program.evaluate.values import Arguments, ClassValue, FunctionValue
from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator

LOOKS_UP = "__getattr__"
"""The method that Python asks for an attribute that an object does not have."""

SETS = "__setattr__"
"""The method that Python calls for each attribute that is set."""

MISSING = "super.__getattr__"
"""An attribute that the base class does not have either: there the program goes on in its `except`."""


def answered(ev: Evaluator, cls: ClassValue) -> frozenset[str]:
    """The attributes for which a class, or one that it inherits from, has code of its own."""
    found: set[str] = set()
    for base in cls.bases:
        if isinstance(base, ClassValue):
            found |= base.answers
    for name, value in ev.store.owned(cls.env.uid).items():
        if name in (LOOKS_UP, SETS) or (isinstance(value, FunctionValue) and value.setter is not None):
            found.add(name)
    return frozenset(found)


def given(ev: Evaluator, holder: Object, cls: ClassValue, name: str, at: s.Span) -> Value | None:
    """What `__getattr__` gives for an attribute that an object does not have; None where that is not in sight."""
    if name.startswith("__") or not _is_asked(holder, cls, name):
        return None
    method = classes.class_attribute(ev, cls, LOOKS_UP)
    if not isinstance(method, FunctionValue):
        return None
    made = ev.call_function(method, Arguments((holder, Constant(value=name))), at, holder)
    found = [(guards, one) for guards, one in ways(made) if not _is_missing(one)]
    if not found or all(_is_open(one) for _, one in found):
        return None
    return one_of(found)


def asked_of_base(ev: Evaluator, holder: Object, name: str, given: Arguments, at: s.Span) -> Value | None:
    """`super().__getattr__(name)` and its like; None for any other method."""
    match name, given.args:
        case "__getattr__" | "__getattribute__", (Constant(value=str(attribute)),):
            held = ev.store.get((holder.uid, attribute))
            return held if held is not None else ev.op(MISSING, (holder,), at)
        case "__setattr__", (Constant(value=str(attribute)), value):
            ev.set_attribute(holder, attribute, value, at)
            return Constant(value=None)
    return None


def _is_asked(holder: Object, cls: ClassValue, name: str) -> bool:
    """Whether Python comes to ask `__getattr__`, since no class that an object is of has such an attribute."""
    if cls.has_unknown_base:
        return False
    return not holder.bases or (holder.bases == {MODULE} and name not in MODULE_NAMES)


def _is_missing(value: Value) -> bool:
    return isinstance(value, Op) and value.name == MISSING


def _is_open(value: Value) -> bool:
    """Whether nothing is known of a value but that code that is not followed gives it."""
    return isinstance(value, Unknown) or (isinstance(value, Op) and value.name == "call")


def set_by_property(ev: Evaluator, holder: Object, name: str, value: Value, at: s.Span) -> None:
    """`holder.name = value`, where a property of its class says what that does."""
    found = classes.class_attribute(ev, holder.definition, name)
    if isinstance(found, FunctionValue) and found.setter is not None:
        ev.call_function(found.setter, Arguments((holder, value)), at, holder)
    else:
        ev.store.set((holder.uid, name), value)
