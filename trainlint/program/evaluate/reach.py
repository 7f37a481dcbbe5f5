"""What a function of the program could get at that is not followed, as a limit is reached, and what it may do to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from trainlint.facts.api.classes import MODULE, OPTIMIZER
from trainlint.facts.model.events.event import Escape
from trainlint.facts.model.events.modules import ModeChange
from trainlint.facts.model.values import Items, Object, Table, Value, alternatives
from trainlint.program.evaluate.classes import class_attribute
from trainlint.program.evaluate.values import Arguments, Env, FunctionValue
from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator

_LEVELS = 2
_DEEPEST = 4
"""How many calls one inside the other are looked through for a switch of modes."""
_SWITCHES = frozenset(("train", "eval"))


def left_out(ev: Evaluator, func: FunctionValue, given: Arguments, at: s.Span) -> None:
    """Note that a call is not followed: what it can get at is out of sight, and the mode of the modules in that is not
    known if the function switches any."""
    values = within_reach(ev, func, given)
    ev.emit(Escape, at, values=values)
    if _may_switch(ev, func):
        for one in _objects(values):
            if one.is_a(MODULE):
                ev.emit(ModeChange, at, module=one, training=None)


def _may_switch(ev: Evaluator, func: FunctionValue) -> bool:
    """Whether a function may switch a module's mode: it names that, or a function or method of the program that does."""
    key = (func.origin.env.path, func.origin.code.at)
    if key not in ev.work.switching:
        ev.work.switching[key] = _leads_to_a_switch(ev, func)
    return ev.work.switching[key]


def _leads_to_a_switch(ev: Evaluator, func: FunctionValue) -> bool:
    level, seen = [func.origin], {func.origin.code.at}
    for _ in range(_DEEPEST):
        if any(not _SWITCHES.isdisjoint(one.code.names) for one in level):
            return True
        called = [each for one in level for each in _functions_named(ev, one)]
        level = [one for one in called if one.code.at not in seen]
        seen.update(one.code.at for one in level)
    return bool(level)


def _functions_named(ev: Evaluator, func: FunctionValue) -> Iterator[FunctionValue]:
    """The functions of the program that a function may call, as it names them."""
    for name in func.code.names:
        found = class_attribute(ev, func.owner, name) if func.owner is not None else None
        env: Env | None = func.env
        while found is None and env is not None:
            found, env = ev.store.get((env.uid, name)), env.parent
        yield from (one.origin for one in alternatives(found) if isinstance(one, FunctionValue))


def within_reach(ev: Evaluator, func: FunctionValue, given: Arguments) -> tuple[Value, ...]:
    """What a function is given, what it names of the scopes around it, and what these objects hold beside layers: a closure
    clears the optimizer of the function that it stands in, a method that of its object."""
    found: dict[Value, None] = dict.fromkeys((*given.all(), *_named(ev, func)))
    level: list[Value] = list(found)
    for _ in range(_LEVELS):
        level = [held for one in level for held in _held(ev, one) if held not in found]
        found.update(dict.fromkeys(level))
    return tuple(found)


def _named(ev: Evaluator, func: FunctionValue) -> Iterator[Object]:
    env: Env | None = func.env
    while env is not None:
        for name in func.code.names:
            yield from _objects([ev.store.get((env.uid, name))])
        env = env.parent


def _held(ev: Evaluator, holder: Value) -> Iterator[Object]:
    for owner in _objects([holder]):
        is_module = owner.is_a(MODULE)
        if owner.definition is not None:
            held = _objects(ev.store.owned(owner.uid).values())
            yield from (one for one in held if not is_module or one.is_a(OPTIMIZER))


def _objects(values: Iterable[Value | None]) -> Iterator[Object]:
    for value in values:
        for one in alternatives(value):
            if isinstance(one, Object):
                yield one
            elif isinstance(one, (Items, Table)):
                yield from (held for held in one.parts() if isinstance(held, Object))
