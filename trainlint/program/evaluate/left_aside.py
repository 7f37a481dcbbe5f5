"""What an entry point restores nothing of, though it restores other things, and code beside it saves its state."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from trainlint.facts.model.events.modules import LeftAside
from trainlint.program.evaluate import classes, siblings
from trainlint.program.evaluate.values import FunctionValue
from trainlint.program.source import syntax as s
from trainlint.program.source.spelling import spelled
from trainlint.program.source.walking import walk

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator

_LOADS = "load_state_dict"
_SAVES = "state_dict"


def note(ev: Evaluator, function: FunctionValue) -> None:
    """Note what a function is given, or what the object of a method holds, and neither it nor what it calls here mentions."""
    code = function.origin.code
    if _LOADS not in code.names:
        return
    is_method = function.owner is not None
    beside = _methods(ev, function) if is_method else siblings.look_at(ev, function.origin.env.path)
    saved = _saved(one for one in beside if one is not code)
    mentioned = _mentioned(code, beside)
    if is_method:
        left = {one for one in saved if one.startswith("self.") and one.count(".") == 1}
        left = {one for one in left if one.removeprefix("self.") not in mentioned}
    else:
        left = {one.name for one in code.parameters if one.name in saved} - mentioned
    if left:
        ev.emit(LeftAside, code.at, names=tuple(sorted(left)), of_object=is_method)


def _methods(ev: Evaluator, function: FunctionValue) -> list[s.Function]:
    cls = function.owner
    every = classes.ancestry(cls) if cls is not None else ()
    return [method for one in every for method in classes.own_methods(ev, one)]


def _saved(functions: Iterable[s.Function]) -> set[str]:
    """What some functions take the state of: `optimizer.state_dict()`."""
    return {
        name
        for one in functions
        if _SAVES in one.names
        for node in walk(one.body)
        if isinstance(node, s.Call) and isinstance(node.func, s.Attribute) and node.func.name == _SAVES
        if (name := spelled(node.func.value)) is not None
    }


def _mentioned(code: s.Function, beside: Sequence[s.Function]) -> set[str]:
    """The names in a function, and in those beside it that it may call."""
    found: set[str] = set()
    pending = [code]
    while pending:
        names = pending.pop().names - found
        found |= names
        pending.extend(one for one in beside if one.name in names)
    return found
