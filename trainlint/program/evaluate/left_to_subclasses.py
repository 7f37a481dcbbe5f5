"""Methods that a class leaves to classes below it: `raise NotImplementedError`, or nothing under `@abstractmethod`.

No object is of such a class alone, so somebody has written the method, where nobody here sees it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from trainlint.facts.api.classes import MODULE
from trainlint.facts.api.losses import LOSSES
from trainlint.facts.model.events.event import Escape
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.values import Object, Value
from trainlint.program.evaluate import declared
from trainlint.program.evaluate.values import Arguments, FunctionValue
from trainlint.program.source import syntax as s
from trainlint.program.source.shape import says_nothing
from trainlint.program.source.walking import walk

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator

LONGEST = 2
"""Statements of a method that may be left open: a docstring, and what raises."""


def is_left_open(func: FunctionValue) -> bool:
    """Whether a method says that a class below has to give it."""
    code = func.origin.code
    does = [node for node in code.body if not says_nothing(node)]
    if not does:
        return any(_named(one, "abstractmethod") for one in code.decorators)
    match does:
        case [s.Raise(value=s.Call(func=raised) | (s.Name() as raised))]:
            return _named(raised, "NotImplementedError")
    return False


def called(ev: Evaluator, func: FunctionValue, given: Arguments, at: s.Span) -> Value:
    """What an unseen method gives. It may do anything with what it is handed. With the object itself it does what it is
    called for: where its result is dropped, that may be anything; else it computes, with the one model that is there."""
    text = func.code.name + "(…)"
    made: Value = ev.op("call", given.all(), at, text)
    if _is_dropped(ev, at):
        ev.emit(Escape, at, values=(*given.all(), *_attributes(ev)))
        return made
    ev.emit(Escape, at, values=given.all()[1:])
    model = _model_of(ev, given.args[0]) if given.args else None
    if model is not None:
        made = ev.op("output", (made,), at, text, owner=model)
        ev.emit(Forward, at, module=model, inputs=given.args[1:], output=made, records=ev.records, text=text)
    return declared.instead(ev, func.code.returns, func.env, made)


def _model_of(ev: Evaluator, owner: Value) -> Object | None:
    """The only module that an object has."""
    if not isinstance(owner, Object):
        return None
    held = {one.uid: one for one in ev.store.owned(owner.uid).values() if isinstance(one, Object)}
    models = [one for one in held.values() if one.is_a(MODULE) and one.type not in LOSSES]
    return models[0] if len(models) == 1 else None


def _attributes(ev: Evaluator) -> Iterator[Value]:
    """The attributes of the object that the caller uses: what else would a method be called for?"""
    code = ev.frames[-1].code
    if code is None or not code.parameters:
        return
    receiver = code.parameters[0].name
    used = {
        node.name: node
        for node in walk(code.body)
        if isinstance(node, s.Attribute) and isinstance(node.value, s.Name) and node.value.name == receiver
    }
    for _, node in sorted(used.items()):
        value = ev.expr(node)
        if isinstance(value, Object):
            yield value


def _is_dropped(ev: Evaluator, at: s.Span) -> bool:
    code = ev.frames[-1].code
    return code is None or any(
        isinstance(node, s.Evaluate) and isinstance(node.value, s.Call) and node.value.at == at
        for node in walk(code.body)
    )


def _named(node: s.Expr, name: str) -> bool:
    return isinstance(node, (s.Name, s.Attribute)) and node.name == name
