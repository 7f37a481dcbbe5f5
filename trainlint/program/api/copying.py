"""Copies of objects, lists, dicts and tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainlint import limits
from trainlint.facts.model.values import Constant, Items, Object, Op, Table, Value
from trainlint.program.evaluate.values import Arguments
from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator


def copied(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    """`copy.deepcopy(value)`, `copy.copy(value)`."""
    value = given.args[0] if given.args else None
    match value:
        case None:
            return None
        case Object():
            return of_object(ev, value, at)
    return _copy(ev, value, name == "copy.deepcopy", at)


def of_object(ev: Evaluator, value: Object, at: s.Span) -> Object:
    """Another object that holds the same."""
    made = Object(
        type=value.type,
        bases=value.bases,
        at=ev.place(at),
        args=value.args,
        options=value.options,
        loops=ev.loops,
        definition=value.definition,
        copy_of=value,
    )
    ev.objects.append(made)
    for name, held in ev.store.owned(value.uid).items():
        if not _is_looked_up(held, value):
            ev.store.set((made.uid, name), held)
    return made


def _copy(ev: Evaluator, value: Value, is_deep: bool, at: s.Span, depth: int = 0) -> Value:
    """A copy of a list, a dict or a tensor; where it is deep, of what these hold too."""

    def inner(held: Value) -> Value:
        is_copied = is_deep and isinstance(held, (Op, Items, Table)) and depth < limits.ELEMENT_DEPTH
        return _copy(ev, held, is_deep, at, depth + 1) if is_copied else held

    ev.spend()
    match value:
        case Items():
            return Items(kind=value.kind, items=[inner(one) for one in value.items], exact=value.exact)
        case Table():
            entries = {key: inner(one) for key, one in value.entries.items()}
            return Table(entries=entries, others=[inner(one) for one in value.others])
    text = "deepcopy(…)" if is_deep else "copy(…)"
    return ev.op("copy", (value,), at, text, {"deep": Constant(value=is_deep)})


def _is_looked_up(held: Value, owner: Object) -> bool:
    """Whether an attribute is only known by its name, as a method of a library's class is: a copy has its own."""
    return isinstance(held, Op) and held.name == "getattr" and held.inputs[0] is owner
