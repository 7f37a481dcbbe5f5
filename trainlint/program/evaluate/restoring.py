"""Objects that a framework makes of a class of the program's, and loads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainlint.facts.api import frameworks as owners
from trainlint.facts.api.classes import MODULE
from trainlint.facts.api.torch_names import bases_of_class
from trainlint.facts.ask.asking import reached
from trainlint.facts.model.events.modules import ModeChange, StateLoaded
from trainlint.facts.model.values import Object, Value
from trainlint.program.evaluate import classes
from trainlint.program.evaluate.values import Arguments, ClassValue, Library
from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator

_LIBRARIES = ("transformers.", "pytorch_transformers.")


def restored(ev: Evaluator, node: s.Call, given: Arguments) -> Value | None:
    """`Net.load_from_checkpoint(path)`: an instance of the class, in training mode (Lightning 2.6); None where it is not one of
    the program's own, or has a method of its own of that name."""
    cls = _class_of(ev, node)
    if cls is None or owners.LIGHTNING not in cls.library_bases:
        return None
    made = classes.given(ev, cls, node.at)
    ev.emit(StateLoaded, node.at, target=made, state=ev.op("load", tuple(given.args), node.at))
    return made


def pretrained(ev: Evaluator, node: s.Call, given: Arguments) -> Value | None:
    """`Net.from_pretrained(name)`: an instance of the class, in evaluation mode (transformers 4 and 5); None where it is no model
    of the program's own that is built on one of transformers."""
    cls = _class_of(ev, node)
    if cls is None or not _is_transformer(cls):
        return None
    made = classes.instantiate(ev, cls, Arguments((ev.unknown("config"),), open=True), node.at)
    if isinstance(made, Object):
        ev.emit(StateLoaded, node.at, target=made, state=ev.op("load", tuple(given.args), node.at))
        ev.emit(ModeChange, node.at, module=made, training=None if _is_in_lightning(ev) else False)
    return made


def _is_in_lightning(ev: Evaluator) -> bool:
    """Whether a module of Lightning's makes it, which before 2.2 was switched to training mode with all that it holds."""
    receivers = (frame.receiver for frame in ev.frames)
    return any(isinstance(one, Object) and one.is_a(owners.LIGHTNING) for one in receivers)


def _class_of(ev: Evaluator, node: s.Call) -> ClassValue | None:
    """The class of the program's own that a call is a method of, unless it has defined that method itself."""
    if not isinstance(node.func, s.Attribute):
        return None
    cls = ev.expr(node.func.value)
    is_own = isinstance(cls, ClassValue) and classes.class_attribute(ev, cls, node.func.name) is None
    return cls if isinstance(cls, ClassValue) and is_own else None


def _is_transformer(cls: ClassValue) -> bool:
    """Whether a class inherits, by others perhaps, from a model of transformers."""
    bases = reached([cls], lambda one: one.bases if isinstance(one, ClassValue) else ())
    return any(
        isinstance(one, Library) and one.name.startswith(_LIBRARIES) and MODULE in bases_of_class(one.name)
        for one in bases
    )
