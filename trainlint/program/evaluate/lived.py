"""What an object's attributes hold once it has been in use: its methods may have changed them since it was made."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from trainlint.facts.api.classes import MODULE
from trainlint.facts.model.values import Constant, Items, Object, Unknown, Value, new_uid
from trainlint.program.evaluate import classes
from trainlint.program.evaluate.values import ClassValue
from trainlint.program.source import shape, walking
from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator

Changes = dict[str, frozenset[str]]
"""By attribute, the methods that change it, by themselves or through other methods of the class."""


_MAKING = frozenset(("__init__", "__post_init__", "__new__"))
"""Methods that make an object: what they set is what it is made with."""

_FILLS = frozenset(("append", "extend", "insert"))


class _Begun(NamedTuple):
    """A running loop: a number that everything made before it is below, its body, and how many functions were running."""

    number: int
    body: s.Block
    frames: int


class Uses:
    """What is known of objects in use."""

    def __init__(self) -> None:
        self.loops: dict[int, _Begun] = {}
        self.changes: dict[int, Changes] = {}
        self.filled: dict[int, frozenset[str]] = {}
        self.changed: dict[tuple[int, tuple[int, ...]], Unknown] = {}
        self._names: dict[int, frozenset[str]] = {}

    def begin(self, loop: int, body: s.Block, frames: int) -> None:
        self.loops[loop] = _Begun(new_uid(), body, frames)

    def forget_code(self) -> None:
        self._names.clear()

    def names(self, body: s.Block) -> frozenset[str]:
        """Every name and attribute in a block."""
        found = self._names.get(id(body))
        if found is None:
            found = self._names[id(body)] = frozenset(shape.names(body))
        return found


def in_use(ev: Evaluator, owner: Object, name: str, held: Constant | Items) -> Value:
    """An attribute as it is found now: the constant that it was set to, or something of which that is the first."""
    if isinstance(held, Items):
        return _since_made(ev, owner, name, held)
    cls = owner.definition
    if not isinstance(cls, ClassValue):
        return held
    writers = _changes(ev, cls).get(name)
    if writers is None or _is_being_made(ev, owner):
        return held
    varying = tuple(
        one for one in ev.loops if one not in owner.loops and _may_change(ev, name, held, one, writers)
    )
    is_handed_down = ev.store.is_foreign(owner.uid) and ev.store.is_foreign(held.uid)
    if not (varying or is_handed_down):
        return held
    key = (held.uid, varying)
    found = ev.uses.changed.get(key)
    if found is None:
        found = ev.uses.changed[key] = Unknown(text=name, loops=varying)
    return found


def _since_made(ev: Evaluator, owner: Object, name: str, held: Items) -> Items:
    """A list as it is found now: one that an object is made with empty, and that a method fills, may hold something where
    nobody in sight says which methods have been called."""
    cls = owner.definition
    is_empty = held.kind == "list" and held.exact and not held.items
    if not is_empty or not isinstance(cls, ClassValue) or _is_being_made(ev, owner):
        return held
    if owner.is_a(MODULE):
        return held  # what it keeps is a part of it, or a history that nothing is made of
    if not (ev.store.is_foreign(owner.uid) and ev.store.is_foreign(held.uid)):
        return held
    if name not in _changes(ev, cls) and name not in _filled(ev, cls):
        return held
    made = Items(kind="list", items=[ev.unknown(name)], exact=False, at=held.at)
    ev.store.set((owner.uid, name), made)
    return made


def _filled(ev: Evaluator, cls: ClassValue) -> frozenset[str]:
    """The attributes to which methods of a class append, but those that make it."""
    found = ev.uses.filled.get(cls.uid)
    if found is None:
        later = [one for one in classes.methods(ev, cls) if one.name not in _MAKING]
        names = (name for one in later for name in _appended_to(one))
        found = ev.uses.filled[cls.uid] = frozenset(names)
    return found


def _appended_to(method: s.Function) -> Iterator[str]:
    own = method.parameters[0].name if method.parameters else ""
    for node in walking.walk(method.body):
        match node:
            case s.Call(func=s.Attribute(value=s.Attribute(value=s.Name(name=holder), name=name), name=how)):
                if holder == own and how in _FILLS:
                    yield name


def _is_being_made(ev: Evaluator, owner: Object) -> bool:
    return any(
        one.receiver is owner and one.code is not None and one.code.name in _MAKING for one in ev.frames
    )


def _may_change(ev: Evaluator, name: str, held: Constant, loop: int, writers: frozenset[str]) -> bool:
    """Whether a value that was set before a loop may be another one in its later iterations: the loop sets it, or the loop, or
    a function that is called in it, may call one of these methods, or is one."""
    begun = ev.uses.loops.get(loop)
    if begun is None or held.uid > begun.number:
        return False
    called = [one.code for one in ev.frames[begun.frames :] if one.code is not None]
    names = ev.uses.names(begun.body)
    if not writers.isdisjoint(names) or (name in names and name in _set_in(begun.body, own=None)):
        return True
    return any(one.name in writers or not writers.isdisjoint(one.names) for one in called)


def _changes(ev: Evaluator, cls: ClassValue) -> Changes:
    methods = classes.methods(ev, cls)
    found = ev.uses.changes.get(cls.uid)
    if found is None:
        found = ev.uses.changes[cls.uid] = _worked_out(methods)
    return found


def _worked_out(methods: list[s.Function]) -> Changes:
    making = frozenset().union(*(one.names for one in methods if one.name in _MAKING))
    later = [one for one in methods if one.name not in _MAKING]
    called_later = frozenset().union(*(one.names for one in later))
    direct: dict[str, set[str]] = {}
    for method in later:
        if method.name not in making or method.name in called_later:
            for name in set_by(method):
                direct.setdefault(name, set()).add(method.name)
    return {name: _with_callers(writers, later) for name, writers in direct.items()}


def _with_callers(writers: set[str], methods: list[s.Function]) -> frozenset[str]:
    grown = True
    while grown:
        callers = {one.name for one in methods if not writers.isdisjoint(one.names)}
        grown = not callers <= writers
        writers |= callers
    return frozenset(writers)


def set_by(method: s.Function) -> Iterator[str]:
    """The attributes of its own object that a method sets."""
    return _set_in(method.body, own=method.parameters[0].name if method.parameters else "")


def _set_in(body: s.Block, own: str | None) -> Iterator[str]:
    """The attributes that a block sets, of one name or of any."""
    pending: list[s.Block] = [body]
    while pending:
        for node in pending.pop():
            pending.extend(shape.blocks(node))
            for target in _targets(node):
                match target:
                    case s.Attribute(value=s.Name(name=holder), name=name) if own in (holder, None):
                        yield name


def _targets(node: s.Statement) -> Iterator[s.Expr]:
    match node:
        case s.Assign():
            for target in node.targets:
                yield from target.items if isinstance(target, s.Collection) else (target,)
        case s.AugmentedAssign():
            yield node.target
