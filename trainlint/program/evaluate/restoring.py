"""Objects that a framework makes of a class of the program's, and loads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainlint.facts.api import frameworks as owners
from trainlint.facts.model.events.modules import StateLoaded
from trainlint.facts.model.values import Value
from trainlint.program.evaluate import classes
from trainlint.program.evaluate.values import Arguments, ClassValue
from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator


def restored(ev: Evaluator, node: s.Call, given: Arguments) -> Value | None:
    """`Net.load_from_checkpoint(path)`: an instance of the class, in training mode (Lightning 2.6); None where it is not one of
    the program's own, or has a method of its own of that name."""
    if not isinstance(node.func, s.Attribute):
        return None
    cls = ev.expr(node.func.value)
    if not isinstance(cls, ClassValue) or owners.LIGHTNING not in cls.library_bases:
        return None
    if classes.class_attribute(ev, cls, node.func.name) is not None:
        return None
    made = classes.given(ev, cls, node.at)
    ev.emit(StateLoaded, node.at, target=made, state=ev.op("load", tuple(given.args), node.at))
    return made
