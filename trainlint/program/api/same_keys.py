"""Dicts that have the keys of another one: `batch = {key: value.to(device) for key, value in batch.items()}`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from trainlint.facts.model.values import Choice, Constant, Op, Table, Unknown, Value
from trainlint.program.evaluate import keys
from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator

_MOST = 20


def source(node: s.Comprehension, iterable: Value, drawn: Value) -> tuple[Value, Value] | None:
    """The dict that a comprehension goes through, where it keeps its keys, and one of its entries; None where it does not."""
    match node:
        case s.Comprehension(
            key=s.Name(name=key),
            loops=(
                (
                    s.Collection(items=(s.Name(name=first), s.Name())),
                    s.Call(func=s.Attribute(name="items")),
                    (),
                ),
            ),
        ) if key == first:
            given = iterable.inputs[0] if isinstance(iterable, Op) and iterable.inputs else None
            return (given, drawn) if isinstance(given, (Op, Unknown)) else None
    return None


def entry(ev: Evaluator, table: Table, key: Constant, held: Value) -> Value | None:
    """The entry of a key: made of the one that the other dict holds, as every entry is made of its own."""
    if table.made_of is None or table.entries or len(table.others) != 1 or not isinstance(key.value, str):
        return None
    name = keys.item(key.value)
    found = ev.store.get((table.uid, name))
    if found is None:
        found = _made(table.others[0], table.made_of[1], held)
        if found is not None:
            ev.store.set((table.uid, name), found)
    return found


def _made(value: Value, drawn: Value, held: Value) -> Value | None:
    """The same as a value, of something else that is held; None where it is not plainly made of what was drawn."""
    if isinstance(value, Choice):
        options = [(guards, _made(one, drawn, held)) for guards, one in value.options]
        made = tuple((guards, one) for guards, one in options if one is not None)
        return Choice(made) if len(made) == len(options) else None
    steps: list[Op] = []
    while isinstance(value, Op) and not _is_value_of(value, drawn):
        if not value.inputs or value.written or len(steps) == _MOST:
            return None
        steps.append(value)
        value = value.inputs[0]
    if not isinstance(value, Op):
        return None
    for step in reversed(steps):
        held = replace(step, inputs=(held, *step.inputs[1:]))
    return held


def _is_value_of(op: Op, drawn: Value) -> bool:
    """Whether it is the second of the two that were drawn: a key and its value."""
    index = op.options.get("index")
    is_second = isinstance(index, Constant) and index.value == 1
    return op.name == "getitem" and is_second and op.inputs[0] is drawn
