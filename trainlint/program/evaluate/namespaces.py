"""Names and attributes as a dict: `vars(args)`, `self.__dict__`, `globals()` and `locals()`. What is put into such a dict is a
name, or an attribute, from then on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainlint.facts.model.values import Constant, Object, Op, Table, Value
from trainlint.program.evaluate import keys, lived, names, picked_by_name
from trainlint.program.evaluate.values import ClassValue, FileModule
from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator


def of_object(ev: Evaluator, holder: Object) -> Table:
    """The attributes that an object has itself. Of one that code out of sight has made, there may be more."""
    table = Table(loops=holder.loops)
    for name, value in ev.store.owned(holder.uid).items():
        if name.isidentifier() and not _is_looked_up(value, holder):
            table.entries[name] = (
                lived.in_use(ev, holder, name, value)
                if isinstance(value, Constant)
                else names.settle(ev, value)
            )
    if not _is_all_in_sight(holder):
        table.others.append(ev.unknown("attribute"))
    ev.store.set((table.uid, keys.NAMES_OF), holder)
    return table


def _is_looked_up(value: Value, holder: Object) -> bool:
    """Whether an attribute is only known by its name, as a method of a library's class is."""
    return isinstance(value, Op) and value.name == "getattr" and value.inputs[0] is holder


def _is_all_in_sight(holder: Object) -> bool:
    if isinstance(holder.definition, ClassValue):
        return not (holder.definition.has_unknown_base or holder.is_given or holder.bases)
    return holder.type == "types.SimpleNamespace" and not holder.is_open


def of_file(ev: Evaluator, path: str) -> Table:
    """`globals()`, and the `__dict__` of a module."""
    table = picked_by_name.namespace(ev, path)
    ev.store.set((table.uid, keys.NAMES_OF), FileModule(path=path))
    return table


def of_scope(ev: Evaluator) -> Table:
    """`locals()`."""
    if ev.env.parent is None:
        return of_file(ev, ev.env.path)
    held = ev.store.owned(ev.env.uid)
    return Table(entries={name: names.settle(ev, one) for name, one in held.items()}, loops=ev.loops)


def replaced(ev: Evaluator, holder: Object, value: Value) -> None:
    """`holder.__dict__ = value`."""
    if isinstance(value, Table):
        for name, one in value.entries.items():
            ev.store.set((holder.uid, str(name)), one)
        ev.store.set((value.uid, keys.NAMES_OF), holder)


def named(ev: Evaluator, table: Table, index: Value, at: s.Span) -> Value | None:
    """What a dict of names has under one that it does not hold as an entry; None where it is a dict of anything else."""
    owner = ev.store.get((table.uid, keys.NAMES_OF))
    if owner is None or not isinstance(index, Constant) or not isinstance(index.value, str):
        return None
    return ev.attribute(owner, index.value, at)


def told_by_use(ev: Evaluator, table: Table, index: Value, at: s.Span) -> Value | None:
    """What `globals()[name]` gives in the file whose code runs, where the name is not known: a model, where it is called as
    one, or a loss, where that is called with tensors."""
    owner = ev.store.get((table.uid, keys.NAMES_OF))
    is_of_this_file = isinstance(owner, FileModule) and owner.path == ev.env.path
    if not is_of_this_file or isinstance(index, Constant):
        return None
    return ev.op(picked_by_name.EVALUATED, (index,), at)


def holds(ev: Evaluator, table: Value, name: Value) -> bool | None:
    """Whether `name in table`, where the table holds all attributes of an object; None where that is open."""
    if not isinstance(table, Table) or not isinstance(name, Constant) or table.others:
        return None
    owner = ev.store.get((table.uid, keys.NAMES_OF))
    return name.value in table.entries if isinstance(owner, Object) else None
