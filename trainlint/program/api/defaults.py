"""Entries that a `defaultdict` makes when they are first asked for: meters, lists of losses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainlint.facts.model.values import Constant, Items, Object, Table, Value
from trainlint.program.api import filling
from trainlint.program.evaluate import keys
from trainlint.program.evaluate.values import Arguments, ClassValue, FunctionValue, Library
from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator


def made(ev: Evaluator, given: Arguments) -> Table:
    """`defaultdict(factory)`."""
    table = Table(loops=ev.loops)
    if given.args:
        ev.store.set((table.uid, keys.FACTORY), given.args[0])
    return table


def entry(ev: Evaluator, table: Table, index: Value, at: s.Span) -> Value | None:
    """What a dict makes for a key that it does not hold, as old as itself; None where that is no object, list or dict."""
    key = index.value if isinstance(index, Constant) else None
    is_known = isinstance(index, Constant) and filling.is_hashable(key)
    factory = ev.store.get((table.uid, keys.FACTORY))
    if factory is None or not _makes_objects(factory) or (table.others and not is_known):
        return None
    with ev.inside(loops=table.loops):
        new = ev.call(factory, Arguments(), at, "default_factory(…)")
    if not isinstance(new, (Object, Items, Table)):
        return None
    if not isinstance(new, Object):
        new.loops = table.loops
    ev.store.touch(table)
    if is_known:
        table.entries[key] = new
    else:
        table.others.append(new)
    return new


def _makes_objects(factory: Value) -> bool:
    return isinstance(factory, (ClassValue, FunctionValue)) or (
        isinstance(factory, Library) and factory.name in ("builtins.list", "builtins.dict")
    )
