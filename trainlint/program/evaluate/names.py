"""Names: what they mean where the evaluated code stands, and what they are bound to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainlint.facts.model.exclusive import outcome_of
from trainlint.facts.model.values import Carried, Choice, Table, Value, alternatives, one_of
from trainlint.program.api import builtin
from trainlint.program.evaluate.values import Env, FileModule, Imported, Library

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator

CONVENTIONS = {"torch": "torch", "nn": "torch.nn", "F": "torch.nn.functional", "np": "numpy"}
"""What names mean that nothing in sight binds: a star import did, an earlier session, or a part that was left out."""


def lookup(ev: Evaluator, name: str) -> Value:
    env: Env | None = ev.env
    first = True
    while env is not None:
        if name in env.declared:
            env = env.declared[name]
        if first or not env.is_class:
            found = ev.store.get((env.uid, name))
            if found is not None:
                return settle(ev, found)
        first = False
        env = env.parent
    if name in builtin.NAMES:
        return Library(name=f"builtins.{name}")
    missing = Library(name=CONVENTIONS[name]) if name in CONVENTIONS else ev.unknown(name)
    root = ev.env
    while root.parent is not None:
        root = root.parent
    ev.store.set((root.uid, name), missing)
    return missing


def seen(ev: Evaluator, value: Value) -> Value:
    """The same value; if it is a dict that others may have filled, that is noted."""
    if isinstance(value, (Table, Choice, Carried)):
        for one in alternatives(value):
            if isinstance(one, Table) and ev.store.is_foreign(one.uid):
                ev.trace.tables.add(table_name(ev, one))
                ev.tables |= ev.trace.tables
    return value


def bind(ev: Evaluator, name: str, value: Value, env: Env | None = None) -> None:
    env = env or ev.env
    env = env.declared.get(name, env)
    ev.store.set((env.uid, name), value)


def settle(ev: Evaluator, value: Value) -> Value:
    """The same value with what is known of conditions and imports applied."""
    if not isinstance(value, (Imported, Choice)):
        return value
    if isinstance(value, Imported):
        return _from_file(ev, value)
    if len(value.options) == 1:  # bound under a condition, and otherwise not at all
        return settle(ev, value.options[0][1])
    if ev.known:
        open_options = []
        for guards, option in value.options:
            if all(outcome_of(condition, ev.known) in (None, wanted) for condition, wanted in guards):
                open_options.append((guards, option))
        if len(open_options) == 1:
            return settle(ev, open_options[0][1])
        if open_options and len(open_options) < len(value.options):
            return _looked_up(ev, one_of(tuple(open_options)))
    return _looked_up(ev, value)


def _looked_up(ev: Evaluator, value: Value) -> Value:
    """The same choice, with what stands there as an import looked up: `try` imports it from one place, `except` from
    another, and both may be the same."""
    if isinstance(value, Choice) and any(isinstance(one, Imported) for _, one in value.options):
        return one_of(tuple((guards, settle(ev, one)) for guards, one in value.options))
    return value


_LONGEST_CHAIN = 10
"""How many files may hand an import on. A longer chain leads back to where it began."""


def _from_file(ev: Evaluator, name: Imported, depth: int = 0) -> Value:
    """What an import gives, or what its name meant before where that leads back to itself."""
    found = imported(ev, name.path, name.name, depth)
    before = name.before
    if not isinstance(found, Imported) or before is None:
        return found
    return _from_file(ev, before, depth + 1) if isinstance(before, Imported) else before


def imported(ev: Evaluator, path: str, name: str, depth: int = 0) -> Value:
    """What `from path import name` gives; an import where that leads back to itself."""
    env = ev.module(path)
    found = ev.store.get((env.uid, name))
    if isinstance(found, Imported) and depth < _LONGEST_CHAIN:
        return _from_file(ev, found, depth + 1)
    if found is not None:
        return found
    inner = ev.project.submodule(path, name)
    if inner is not None:
        return FileModule(path=inner)
    missing = ev.unknown(name)
    ev.store.set((env.uid, name), missing)
    return missing


def table_name(ev: Evaluator, value: Value) -> str:
    """A name for a dict that is the same in every run: its file and the name it has there, if it has one."""
    path = ev.owners.get(ev.store.root_of(value), "")
    held = ev.store.owned(ev.modules[path].uid) if path in ev.modules else {}
    return f"{path} {next((name for name, one in held.items() if one is value), '')}"
