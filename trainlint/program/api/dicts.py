"""Dicts that a program makes of others, of pairs, or of keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainlint.facts.model.values import Items, Op, Table, Value
from trainlint.program.api import elements, filling
from trainlint.program.evaluate.values import Arguments
from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator


def new_dict(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value:
    first = given.args[0] if given.args else None
    if isinstance(first, Table):
        entries = {**first.entries, **given.options}
        return Table(entries=entries, others=list(first.others), loops=ev.loops)
    if isinstance(first, Items) and (table := of_pairs(first)) is not None:
        table.entries.update(given.options)
        return table
    others = _values_of_pairs(ev, first, at) if first is not None else []
    return Table(entries=dict(given.options), others=others, loops=ev.loops)


def _values_of_pairs(ev: Evaluator, pairs: Value, at: s.Span) -> list[Value]:
    """What stands behind the keys that a dict is made of, where these are not known: `dict(zip(names, losses))`."""
    match pairs:
        case Op(name="zip", inputs=(_, values)):
            return [elements.element(ev, values, at)]
        case Items(items=[_, *_]) if all(map(_is_pair, pairs.items)):
            return [one.items[1] for one in pairs.items if isinstance(one, Items)]
    return [pairs]


def of_pairs(value: Items) -> Table | None:
    """The dict of a list of keys and what they stand for; None where it may hold anything else."""
    if not value.exact or not all(map(_is_pair, value.items)):
        return None
    pairs = [one.items for one in value.items if isinstance(one, Items)]
    return filling.tabled([key for key, _ in pairs], [one for _, one in pairs])


def _is_pair(value: Value) -> bool:
    return isinstance(value, Items) and value.exact and len(value.items) == 2
