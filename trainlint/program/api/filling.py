"""Lists and dicts that a program fills."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trainlint import limits
from trainlint.facts.model.values import (
    Constant,
    Items,
    Missing,
    Object,
    Table,
    Value,
    one_of,
)
from trainlint.program.api.lists import bounded, repeated
from trainlint.program.evaluate import keys
from trainlint.program.evaluate.values import FileModule
from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator


def without_entry(ev: Evaluator, table: Table, key: Any) -> Value:
    """Remove what a dict holds for a key, and return it."""
    ev.store.touch(table)
    found = table.entries.pop(key)
    if _guards(ev, table):  # on another way it may still be there
        table.entries[key] = ev.unknown(str(key))
    return found


def tabled(keys: list[Value], values: list[Value]) -> Table:
    """A dict from keys, of which some may not be known, and values."""
    table = Table()
    for key, value in zip(keys, values, strict=True):
        if isinstance(key, Constant) and is_hashable(key.value):
            table.entries[key.value] = value
        else:
            table.others.append(value)
    return table


def append(ev: Evaluator, target: Items, value: Value) -> None:
    """`list.append(value)`. In a loop or on a branch, nobody can say how often, or whether at all."""
    ev.store.touch(target)
    certain = ev.certainly_once(target)
    if target.exact:
        target.first = len(target.items)
    target.items.append(value)
    target.exact = target.exact and certain and len(target.items) < limits.MAX_ITEMS
    target.is_begun, target.open_end = False, not certain


def note_repeated(ev: Evaluator, target: Items | Table, value: Value, at: s.Span) -> None:
    """A loop, in which no condition is asked, puts an object into a list or dict that was made before it: not one that the
    object whose method runs keeps by a name, and shares on purpose."""
    is_in_loop = ev.loops[:-1] == target.loops and ev.loops != target.loops
    is_plain = len(ev.guards) <= (target.branch if isinstance(target, Items) else len(target.made_under))
    if not (is_in_loop and is_plain and isinstance(value, Object) and ev.loops[-1] not in value.loops):
        return
    holder = ev.frames[-1].receiver
    is_kept = isinstance(holder, Object) and value in ev.store.owned(holder.uid).values()
    if not is_kept and len(target.repeated) < limits.MAX_OPTIONS:
        target.repeated = (*target.repeated, (ev.place(at), value))


def extend(ev: Evaluator, target: Items, value: Value) -> None:
    """`list += value`."""
    ev.store.touch(target)
    target.is_begun = False
    if target.exact:
        target.first = len(target.items)
    if isinstance(value, Items):
        certain = ev.certainly_once(target)
        items, exact = bounded(ev, [*target.items, *value.items], exact=target.exact and value.exact)
        target.repeated = repeated(target, value)
        target.items, target.exact = items, exact and certain
        target.open_end = not certain or value.open_end
    else:
        target.items.append(value)
        target.exact, target.open_end = False, True


def take(ev: Evaluator, target: Items, index: Value) -> None:
    """`list.pop(index)`, after its item was looked up. Where nobody can say how often, any item may be left."""
    ev.store.touch(target)
    match index:
        case Constant(value=int(number)) if target.exact and ev.certainly_once(target):
            if -len(target.items) <= number < len(target.items):
                del target.items[number]
        case _:
            target.exact = target.is_begun = False
            target.first, target.open_end = 0, True


def put(ev: Evaluator, table: Table, key: object, value: Value) -> None:
    """`table[key] = value`, under the conditions that hold here."""
    owner = ev.store.get((table.uid, keys.NAMES_OF))
    if owner is not None:  # what is put into `vars(args)` is an attribute of `args`
        scope = ev.module(owner.path) if isinstance(owner, FileModule) else owner
        ev.store.set((scope.uid, str(key)), value)
    guards = _guards(ev, table)
    before = table.entries.get(key)
    if guards:
        value = one_of(((guards, value), ((), before if before is not None else Missing(loops=ev.loops))))
    ev.store.touch(table)
    table.entries[key] = value


def _guards(ev: Evaluator, table: Table) -> tuple[Any, ...]:
    """The conditions that hold here, without those under which a dict was made."""
    shared = len(table.made_under)
    return ev.guards[shared:] if ev.guards[:shared] == table.made_under else ev.guards


def is_hashable(value: object) -> bool:
    """Whether a constant can be the key of a dict."""
    return isinstance(value, (str, int, float, bool, bytes, type(None)))
