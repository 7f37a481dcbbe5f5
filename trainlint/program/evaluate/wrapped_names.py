"""Names that hold a wrapper of a module: the module answers for it, but the keys of its state have a prefix."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from trainlint.facts.api.classes import MODULE
from trainlint.facts.api.wrappers import PREFIXES, is_prefix
from trainlint.facts.model.events.modules import StateLoaded, StateTaken
from trainlint.facts.model.values import Constant, Object, Value, ways
from trainlint.program.evaluate import conditions, keys
from trainlint.program.evaluate.names import settle
from trainlint.program.evaluate.values import Arguments, FunctionValue, Library
from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator

_Key = tuple[int, str]


def note_assigned(ev: Evaluator, target: s.Expr, node: s.Expr, value: Value) -> None:
    """`model = torch.compile(model)`; any other assignment but that of `model.to(...)` ends it."""
    if not isinstance(value, Object) and not _tells(node):
        return  # of a module that is not in sight, only some names tell whether it is wrapped
    key = _key(ev, target)
    if key is None:
        return
    wrapper = _wrapper(ev, node)
    if wrapper is not None:
        ev.store.set(key, wrapper)
    elif not _is_method_of(node, target) and (not isinstance(value, Object) or value.is_a(MODULE)):
        ev.store.set(key, Constant(value=""))


def _tells(node: s.Expr) -> bool:
    """Whether it is `torch.compile(…)` or the like on one way, or a call that takes a module out of a wrapper."""
    match node:
        case s.Call(func=s.Name(name=name) | s.Attribute(name=name)):
            return name in _LAST or "unwrap" in name
        case s.Conditional():
            return _tells(node.then) or _tells(node.otherwise)
    return False


def note_returned(ev: Evaluator, node: s.Expr, value: Value) -> None:
    """`return torch.compile(model)`, on one way through a function at least."""
    if isinstance(value, Object):
        ev.frames[-1].wrapper = _wrapper(ev, node) or ev.frames[-1].wrapper


def note_handed(ev: Evaluator, node: s.Call, given: Arguments) -> None:
    """`save(torch.compile(model))`: which of the modules that a call hands over are wrapped, where it hands each over once."""
    found: dict[int, list[Constant | None]] = {}
    for position, one in enumerate(node.args):
        if one.star:
            break
        value = given.get(position, one.keyword or "")
        if isinstance(value, Object):
            found.setdefault(value.uid, []).append(_wrapper(ev, one.value))
    ev.handed = {uid: each[0] for uid, each in found.items() if len(each) == 1 and each[0] is not None}


def note_parameters(ev: Evaluator, func: FunctionValue) -> None:
    """The parameters of a function hold the wrappers that its caller has handed over."""
    for one in func.code.parameters if ev.handed else ():
        value = ev.store.get((ev.env.uid, one.name))
        wrapper = ev.handed.get(value.uid) if value is not None else None
        if wrapper is not None:
            ev.store.set((ev.env.uid, keys.prefix(one.name)), wrapper)


def note_state(ev: Evaluator, node: s.Call) -> None:
    """The event of `model.state_dict()` that has just happened, of a name that holds a wrapper."""
    if not isinstance(node.func, s.Attribute) or node.func.name not in ("state_dict", "load_state_dict"):
        return
    found = _held(ev, node.func.value)
    last = ev.nodes[-1] if ev.nodes else None
    if found is not None and isinstance(last, (StateTaken, StateLoaded)):
        last.prefix, last.wrapped_at = found.value, found.at


def _wrapper(ev: Evaluator, node: s.Expr) -> Constant | None:
    """The prefix of what an expression gives, on one of its ways at least, with the place of the wrapper; None for a module
    as it is."""
    match node:
        case s.Conditional():
            return _of_either(ev, node)
        case s.Name() | s.Attribute():
            return _held(ev, node)
        case s.Call(func=s.Name(name=name) | s.Attribute(name=name)) if name in _LAST:
            function = ev.expr(node.func)
            prefix = PREFIXES.get(function.name, "") if isinstance(function, Library) else ""
            return Constant(value=prefix, at=ev.place(node.at)) if prefix else None
        case s.Call() if ev.last_wrapper is not None and ev.last_wrapper[0] == ev.place(node.at):
            return ev.last_wrapper[1]
    return None


def _of_either(ev: Evaluator, node: s.Conditional) -> Constant | None:
    """`first if wrapped else second`: each side where its condition holds. `model.module if ... else model` asks for the
    wrapper, however it does that."""
    if any(isinstance(way, s.Attribute) and way.name in _INNER for way in (node.then, node.otherwise)):
        return None
    with ev.inside(nodes=[]):  # it was asked before
        test = ev.expr(node.test)
    taken = conditions.truth(test, ev.known)
    for outcome, way in ((True, node.then), (False, node.otherwise)):
        holds = dict(conditions.implied(test, outcome, conditions.guard(test)))
        if taken in (None, outcome) and not _is_bare(holds.items()):
            with ev.inside(known={**ev.known, **holds}):
                found = _wrapper(ev, way)
            if found is not None:
                return found
    return None


def _held(ev: Evaluator, node: s.Expr) -> Constant | None:
    """The wrapper that a name, or an attribute, holds, as far as known conditions allow it."""
    key = _key(ev, node)
    found = settle(ev, ev.store.get(key) or Constant(value="")) if key is not None else None
    return next(
        (
            one
            for guards, one in ways(found)
            if isinstance(one, Constant) and one.value and not _is_bare(guards)
        ),
        None,
    )


def _is_bare(guards: Iterable[conditions.Guard]) -> bool:
    """Whether conditions say that something is no wrapper: `hasattr(model, "module")`, or `isinstance(model,
    nn.DataParallel)`, is false."""
    return any(not outcome and _asks_for_wrapper(condition) for condition, outcome in guards)


def _asks_for_wrapper(condition: Any) -> bool:
    match condition:
        case ("builtins.hasattr", _, ("constant", str(name))):
            return is_prefix(name.strip("'"))
        case ("isinstance", _, ("library" | "libraries", *names)):
            return not PREFIXES.keys().isdisjoint(names)
    return False


_INNER = frozenset(prefix.rstrip(".") for prefix in PREFIXES.values())
"""The attributes under which wrappers keep their modules."""

_LAST = frozenset(name.rpartition(".")[2] for name in PREFIXES) | {"DDP", "DP"}


def _is_method_of(node: s.Expr, target: s.Expr) -> bool:
    """Whether it is `model.to(device)`, or the like, of what a name already holds."""
    match node, target:
        case s.Call(func=s.Attribute(value=s.Name(name=one))), s.Name(name=other):
            return one == other
    return False


def _key(ev: Evaluator, expr: s.Expr) -> _Key | None:
    """Under what is kept what is known of a name, or of an attribute of an object."""
    match expr:
        case s.Name(name=name):
            env = ev.env
            while env.parent is not None and ev.store.get((env.uid, name)) is None:
                env = env.parent
            return env.uid, keys.prefix(name)
        case s.Attribute(value=s.Name() as owner, name=name):
            held = ev.expr(owner)
            return (held.uid, keys.prefix(name)) if isinstance(held, Object) else None
    return None
