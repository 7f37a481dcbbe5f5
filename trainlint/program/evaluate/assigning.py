"""What assignments bind, fill and remove."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING

from trainlint.facts.ask.guards import of_axes
from trainlint.facts.model.events.operations import SizesTaken
from trainlint.facts.model.values import (
    Carried,
    Choice,
    Constant,
    Items,
    Object,
    Op,
    Table,
    Value,
    constant,
    one_of,
)
from trainlint.program.api import counted, elements, filling, noting, subscripts
from trainlint.program.evaluate import (
    attributes,
    best_models,
    called,
    declared,
    discarding,
    expressions,
    names,
    overloads,
    running_sums,
    standing_in,
    wrapped_names,
)
from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator


def delete_statement(ev: Evaluator, node: s.Delete) -> None:
    for target in node.targets:
        _delete(ev, target)


def _delete(ev: Evaluator, target: s.Expr) -> None:
    """`del table[key]`, and `del self.name`, after which it is nothing that a module holds."""
    if isinstance(target, s.Attribute):
        holder = ev.expr(target.value)
        if isinstance(holder, Object):
            ev.set_attribute(holder, target.name, Constant(value=None), target.at)
    if not isinstance(target, s.Subscript):
        return
    table, key = expressions.unseen(ev, target.value), ev.expr(target.index)
    if isinstance(table, Table) and isinstance(key, Constant) and key.value in table.entries:
        filling.without_entry(ev, table, key.value)


def assign_statement(ev: Evaluator, node: s.Assign) -> None:
    if node.value is None:
        return
    value = declared.instead(ev, node.annotation, ev.env, ev.expr(node.value))
    discarding.made_again(ev, value)
    for target in node.targets:
        assign_as_written(ev, target, node.value, value)


def assign_as_written(ev: Evaluator, target: s.Expr, written: s.Expr, value: Value) -> None:
    """Assign the value of an expression: it may be a running sum, and the target may tell what is not known of it."""
    running_sums.note_assigned(ev, target, written, value)
    assign(ev, target, standing_in.known(ev, target, value) if isinstance(target, s.Name) else value)
    wrapped_names.note_assigned(ev, target, written, value)
    best_models.note_assigned(ev, target, written, value)


def assign(ev: Evaluator, target: s.Expr, value: Value) -> None:
    match target:
        case s.Name():
            called.note(value, target.name)
            names.bind(ev, target.name, value)
        case s.Attribute():
            called.note(value, target.name)
            ev.set_attribute(ev.expr(target.value), target.name, value, target.at)
        case s.Subscript():
            container, key = expressions.unseen(ev, target.value), ev.expr(target.index)
            called.note(value, constant(key))
            subscripts.store_item(ev, container, key, value, target.at)
        case s.Collection():
            for item, part in zip(target.items, _unpacked(ev, target, value), strict=False):
                if isinstance(item, s.Starred):
                    item = item.value
                assign(ev, item, standing_in.known(ev, item, part) if isinstance(item, s.Name) else part)
        case s.Starred():
            assign(ev, target.value, value)


def _unpacked(ev: Evaluator, target: s.Collection, value: Value) -> list[Value]:
    """As many values as a tuple of targets needs."""
    count = len(target.items)
    if isinstance(value, Choice):
        fitting = [one for one in value.options if isinstance(one[1], Items) and len(one[1].items) == count]
        value = one_of(fitting) if fitting else value
    value = counted.numbers(value) or value
    if isinstance(value, Object):
        value = elements.items_of(ev, value, target.at) or value
    starred = next((i for i, item in enumerate(target.items) if isinstance(item, s.Starred)), None)
    if isinstance(value, Items) and value.exact and starred is not None and len(value.items) >= count - 1:
        after = count - starred - 1
        middle = value.items[starred : len(value.items) - after]
        return [
            *value.items[:starred],
            _list_of(middle),
            *value.items[len(value.items) - after :],
        ]
    if starred is None:
        _note_sizes(ev, target, value)
    return [
        names.settle(ev, subscripts.item(ev, value, Constant(value=number), target.at))
        for number in range(count)
    ]


def _note_sizes(ev: Evaluator, target: s.Collection, value: Value) -> None:
    """Note how many axes a tensor has whose shape is taken apart, unless that was asked before."""
    match value:
        case Op(name="shape" | "size", inputs=(tensor,)) if not value.options and not of_axes(ev.guards):
            ev.emit(SizesTaken, target.at, tensor=tensor, count=len(target.items))


def _list_of(values: Sequence[Value]) -> Items:
    """What a starred name takes. What a function was given as `*loaders`, and gives back, is one value for several items."""
    spread = [one if isinstance(one, Items) and one.kind == "star" else None for one in values]
    parts = (one.items if one else [value] for value, one in zip(values, spread, strict=True))
    return Items(
        items=list(chain.from_iterable(parts)), exact=all(one is None or one.exact for one in spread)
    )


def _from_before(value: Value) -> Value:
    """What a name held before the loops in which it is assigned."""
    while isinstance(value, Carried):
        value = value.start
    return value


def augmented_statement(ev: Evaluator, node: s.AugmentedAssign) -> None:
    before = ev.expr(node.target)
    value = ev.expr(node.value)
    extended = _from_before(before)
    if isinstance(extended, Items) and node.operator == "+":
        filling.extend(ev, extended, value)
        running_sums.note_collected(ev, extended, value.items if isinstance(value, Items) else (), node.at)
        return
    own = overloads.overloaded(ev, node.operator, (before, value), node.at, in_place=True)
    if own is not None:
        assign(ev, node.target, own)
        return
    result = expressions.arithmetic(ev, node.operator, (before, value), node.at)
    if isinstance(result, Op) and isinstance(extended, Op):
        result.in_place = True
    running_sums.note_augmented(ev, node, before, value, result)
    if isinstance(node.target, s.Attribute):
        attributes.written_by_hand(ev, ev.expr(node.target.value), node.target.name, node.at)
    elif isinstance(before, Op):
        attributes.written_by_hand(ev, before, "", node.at)
    noting.note_overwritten(ev, before, node.at)
    assign(ev, node.target, result)
