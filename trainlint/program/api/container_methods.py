"""Methods of lists and dicts, as far as values pass through them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from trainlint.facts.model.values import Constant, Items, Table, Value, constant, one_of
from trainlint.program.api import filling, subscripts
from trainlint.program.api.lists import once
from trainlint.program.evaluate import running_sums
from trainlint.program.evaluate.values import Arguments
from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator


def container_method(
    ev: Evaluator, value: Items | Table, name: str, given: Arguments, at: s.Span
) -> Value | None:
    """A method of a list or dict; None if it is not one that matters."""
    if isinstance(value, Items):
        of_list = _OF_LISTS.get(name)
        return of_list(ev, value, given, at) if of_list is not None else None
    if name in ("items", "values"):
        return _entries(ev, value, name, at)
    of_dict = _OF_DICTS.get(name)
    return of_dict(ev, value, given, at) if of_dict is not None else None


def _append(ev: Evaluator, value: Items, given: Arguments, at: s.Span) -> Value | None:
    if not given.args:
        return None
    filling.append(ev, value, given.args[0])
    filling.note_repeated(ev, value, given.args[0], at)
    running_sums.note_collected(ev, value, given.args[:1], at)
    return Constant(value=None)


def _extend(ev: Evaluator, value: Items, given: Arguments, at: s.Span) -> Value | None:
    if not given.args:
        return None
    filling.extend(ev, value, given.args[0])
    return Constant(value=None)


def _insert(ev: Evaluator, value: Items, given: Arguments, at: s.Span) -> Value | None:
    if len(given.args) != 2:
        return None
    ev.store.touch(value)
    value.items.append(given.args[1])
    value.exact = value.is_begun = False
    value.first = 0
    return Constant(value=None)


def _reversed(ev: Evaluator, value: Items, given: Arguments, at: s.Span) -> Value:
    ev.store.touch(value)
    value.items.reverse()
    value.is_begun, value.first = False, 0
    return Constant(value=None)


def _taken(ev: Evaluator, value: Items, given: Arguments, at: s.Span) -> Value:
    return _taken_from(ev, value, given.args[0] if given.args else Constant(value=-1), at)


def _first_taken(ev: Evaluator, value: Items, given: Arguments, at: s.Span) -> Value:
    return _taken_from(ev, value, Constant(value=0), at)


def _taken_from(ev: Evaluator, value: Items, index: Value, at: s.Span) -> Value:
    found = subscripts.item(ev, value, index, at)
    filling.take(ev, value, index)
    return found


def _list_copied(ev: Evaluator, value: Items, given: Arguments, at: s.Span) -> Value:
    return Items(kind=value.kind, items=list(value.items), exact=value.exact)


def _place_in(ev: Evaluator, value: Items, given: Arguments, at: s.Span) -> Value | None:
    """`names.index("<pad>")` of a list of constants."""
    wanted = constant(given.args[0]) if len(given.args) == 1 else None
    held = [constant(one) for one in value.items]
    if not value.exact or wanted is None or wanted not in held:
        return None
    return Constant(value=held.index(wanted))


def _get(ev: Evaluator, value: Table, given: Arguments, at: s.Span) -> Value | None:
    match given.args:
        case (Constant(value=key), *rest) if filling.is_hashable(key) and not value.others:
            return value.entries.get(key, rest[0] if rest else Constant(value=None))
        case (first, *_):
            return subscripts.item(ev, value, first, at)
    return None


def _entries(ev: Evaluator, value: Table, name: str, at: s.Span) -> Value:
    if value.others or not value.entries:
        return ev.op(name, (value,), at)
    if name == "values":
        return Items(items=list(value.entries.values()))
    pairs = [[Constant(value=key), one] for key, one in value.entries.items()]
    return Items(items=[Items(kind="tuple", items=pair) for pair in pairs])


def _keys(ev: Evaluator, value: Table, given: Arguments, at: s.Span) -> Value:
    return Items(items=[Constant(value=one) for one in value.entries], exact=not value.others)


def _update(ev: Evaluator, value: Table, given: Arguments, at: s.Span) -> Value:
    ev.store.touch(value)
    entries = dict(given.options)
    first = given.args[0] if given.args else None
    if isinstance(first, Table):
        entries.update({key: one for key, one in first.entries.items() if isinstance(key, str)})
        value.others = once((*value.others, *first.others))
    elif first is not None:
        value.others.append(first)
    for key, one in entries.items():
        filling.put(ev, value, key, one)
    return Constant(value=None)


def _entry_taken(ev: Evaluator, value: Table, given: Arguments, at: s.Span) -> Value | None:
    match given.args:
        case (Constant(value=key), *_) if key in value.entries and not value.others:
            return filling.without_entry(ev, value, key)
    return _entry(ev, value, given, at)


def _entry(ev: Evaluator, value: Table, given: Arguments, at: s.Span) -> Value | None:
    return subscripts.item(ev, value, given.args[0], at) if given.args else None


def _set_if_absent(ev: Evaluator, value: Table, given: Arguments, at: s.Span) -> Value | None:
    """`setdefault`: certainly there afterwards."""
    match given.args:
        case (Constant(value=key), *rest) if filling.is_hashable(key) and key not in value.entries:
            default = rest[0] if rest else Constant(value=None)
            held = one_of((((), default), ((), ev.unknown(str(key))))) if value.others else default
            filling.put(ev, value, key, held)
            return held
    return _entry(ev, value, given, at)


def _last_taken(ev: Evaluator, value: Table, given: Arguments, at: s.Span) -> Value | None:
    """`popitem`: the last entry, where all are known."""
    if not value.entries or value.others:
        return None
    key = next(reversed(value.entries))
    return Items(kind="tuple", items=[Constant(value=key), filling.without_entry(ev, value, key)])


def _dict_copied(ev: Evaluator, value: Table, given: Arguments, at: s.Span) -> Value:
    return Table(entries=dict(value.entries), others=list(value.others))


def _item_got(ev: Evaluator, value: Items | Table, given: Arguments, at: s.Span) -> Value | None:
    return subscripts.item(ev, value, given.args[0], at) if len(given.args) == 1 else None


def _item_set(ev: Evaluator, value: Items | Table, given: Arguments, at: s.Span) -> Value | None:
    if len(given.args) != 2:
        return None
    subscripts.store_item(ev, value, *given.args, at)
    return Constant(value=None)


_OF_LISTS: dict[str, Callable[[Evaluator, Items, Arguments, s.Span], Value | None]] = {
    **dict.fromkeys(("append", "add", "appendleft", "put"), _append),
    "extend": _extend,
    "insert": _insert,
    "reverse": _reversed,
    "pop": _taken,
    **dict.fromkeys(("popleft", "get"), _first_taken),
    "copy": _list_copied,
    "index": _place_in,
    "__getitem__": _item_got,
    "__setitem__": _item_set,
}
_OF_DICTS: dict[str, Callable[[Evaluator, Table, Arguments, s.Span], Value | None]] = {
    "get": _get,
    "keys": _keys,
    "update": _update,
    "pop": _entry_taken,
    "popitem": _last_taken,
    "setdefault": _set_if_absent,
    "copy": _dict_copied,
    "__getitem__": _item_got,
    "__setitem__": _item_set,
}
