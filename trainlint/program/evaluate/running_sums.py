"""Sums that go from one iteration of a loop to the next."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from trainlint.facts.ask.tensors import is_tensor
from trainlint.facts.model.events.losses import Accumulated, Collected, Joined
from trainlint.facts.model.values import (
    BOUNDED,
    Carried,
    Items,
    Object,
    Op,
    Table,
    Unknown,
    Value,
    alternatives,
)
from trainlint.program.source import shape
from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator

_JOINS = frozenset("cat concat concatenate hstack vstack".split())


def note_assigned(ev: Evaluator, target: s.Expr, expr: s.Expr, value: Value) -> None:
    """`total = total + loss` in a loop, and `mean = loss if mean is None else 0.9 * mean + 0.1 * loss`."""
    if not ev.loops:
        return
    if isinstance(target, s.Name) and isinstance(value, Op) and value.name in _JOINS:
        _note_joined(ev, target, expr, value)
    for one in _sums(expr):
        made = [each for each in alternatives(value) if isinstance(each, Op) and each.at == ev.place(one.at)]
        if len(made) == 1 and len(made[0].inputs) == 2:
            _note_sum(ev, target, one, made[0])


def _note_joined(ev: Evaluator, target: s.Name, expr: s.Expr, made: Op) -> None:
    """`scores = torch.cat((scores, new))` of two pieces, in the loop that `scores` came into."""
    pieces = made.inputs[0].items if made.inputs and isinstance(made.inputs[0], Items) else []
    before = ev.store.get((ev.env.uid, target.name))
    if (
        len(pieces) == 2
        and isinstance(before, Carried)
        and before.loop == ev.loops[-1]
        and _lives_on(ev, before)
    ):
        added = [one for one in pieces if one is not before]
        if len(added) == 1:
            ev.emit(Joined, expr.at, total=target.name, before=before, value=added[0], result=made)


def _sums(expr: s.Expr) -> Iterator[s.Operation]:
    """The sums that an expression comes down to."""
    match expr:
        case s.Operation(operator="+"):
            yield expr
        case s.Conditional():
            yield from (
                one
                for one in (expr.then, expr.otherwise)
                if isinstance(one, s.Operation) and one.operator == "+"
            )


def _note_sum(ev: Evaluator, target: s.Expr, expr: s.Operation, made: Op) -> None:
    if isinstance(target, s.Subscript) and _is_of_numpy(ev, target):
        return
    total = shape.label(target)
    made_in = _made_in(ev, target) if isinstance(target, s.Subscript) else None
    if isinstance(target, s.Subscript) and _gets(expr.operands[0], target):
        ev.emit(Accumulated, expr.at, total=total, value=made.inputs[1], result=made, made_in=made_in)
        return
    for part, before, added in zip(expr.operands, made.inputs, reversed(made.inputs), strict=True):
        kept = _weighed(part, before, target)
        if kept is None:
            continue
        is_entry = isinstance(target, s.Subscript) and isinstance(target.index, s.Constant)
        lives_on = isinstance(target, s.Attribute) and _attribute_lives_on(ev, target)
        if is_entry or lives_on or (isinstance(target, s.Name) and _lives_on(ev, kept)):
            ev.emit(Accumulated, expr.at, total=total, value=added, result=made, made_in=made_in)
        return


def _weighed(expr: s.Expr, value: Value, total: s.Expr) -> Value | None:
    """What the sum so far was, where a part of a sum is that, or that times a factor: of a dict, the entry of the same key."""
    if shape.are_alike(expr, total):
        return value
    match expr, value:
        case s.Operation(operator="*", operands=(first, second)), Op(name="*", inputs=(one, other)):
            is_first = shape.are_alike(first, total)
            return one if is_first else other if shape.are_alike(second, total) else None
    return None


def note_augmented(
    ev: Evaluator, node: s.AugmentedAssign, before: Value, value: Value, result: Value
) -> None:
    """`total += loss` in a loop."""
    if ev.loops and node.operator in ("+", "-") and _target_lives_on(ev, node.target, before):
        made_in = _made_in(ev, node.target) if isinstance(node.target, s.Subscript) else None
        total = shape.label(node.target)
        ev.emit(Accumulated, node.at, total=total, value=value, result=result, made_in=made_in)


def note_collected(ev: Evaluator, kept: Items, added: Iterable[Value], at: s.Span) -> None:
    """`losses.append(loss)` in a loop that the list was made before, or `rows.append({"loss": loss})`."""
    if len(ev.loops) > len(kept.loops) and kept.kind != BOUNDED:
        for row in added:
            for one in dict.fromkeys(row.parts()) if isinstance(row, (Items, Table)) else (row,):
                if all(isinstance(each, Op) and each.records for each in alternatives(one)):
                    ev.emit(Collected, at, value=one)


def _gets(expr: s.Expr, entry: s.Subscript) -> bool:
    """Whether it is `totals.get(key, 0)`, beside `totals[key]`."""
    match expr:
        case s.Call(func=s.Attribute(name="get", value=holder)):
            return shape.label(holder) == shape.label(entry.value)
    return False


def _made_in(ev: Evaluator, entry: s.Subscript) -> tuple[int, ...] | None:
    """The loops that a dict or list was made in; None where that is not known."""
    holder = ev.expr(entry.value)
    return holder.loops if isinstance(holder, (Table, Items)) else None


def _target_lives_on(ev: Evaluator, target: s.Expr, before: Value) -> bool:
    match target:
        case s.Attribute():
            return _attribute_lives_on(ev, target)
        case s.Subscript():
            is_array = _is_part_of_tensor(ev, target) or _is_of_numpy(ev, target)
            return not (is_array or _is_met_once(ev, ev.expr(target.value)))
    return _lives_on(ev, before)


def _carried(ev: Evaluator, value: Value | None) -> bool:
    """Whether a value came into the present loop from before it."""
    return isinstance(value, Carried) and value.loop in ev.loops


def _lives_on(ev: Evaluator, total: Value) -> bool:
    """Whether a sum goes from one iteration to the next, and does not end with the forward of a module."""
    return ev.here.forwards == 0 and ev.forwarding() is None and _carried(ev, total)


def _attribute_lives_on(ev: Evaluator, target: s.Attribute) -> bool:
    """Whether an attribute lasts from one iteration to the next: not if its object is re-created on each, and not if it is
    the `data` of a tensor, which never has a graph."""
    found = list(alternatives(ev.expr(target.value)))
    if target.name == "data" and not any(isinstance(one, Object) for one in found):
        return False
    return not all(_is_made_anew(ev, one) for one in found)


def _is_made_anew(ev: Evaluator, value: Value) -> bool:
    """Whether a value comes from a call in the present iteration, which may have made it."""
    while (
        isinstance(value, Op) and value.name in ("getattr", "getitem", "iterate", "output") and value.inputs
    ):
        value = value.inputs[0]
    return isinstance(value, (Object, Op)) and ev.loops[-1] in value.loops


def _is_met_once(ev: Evaluator, value: Value) -> bool:
    """Whether a value belongs to what a loop goes through, all of which is re-created on each iteration of the loops around it."""
    met = set[int]()
    while isinstance(value, Op) and value.name in ("getattr", "getitem", "iterate") and value.inputs:
        met.update(value.loops[-1:] if value.name == "iterate" else ())
        value = value.inputs[0]
    return bool(met) and isinstance(value, (Op, Unknown)) and met.union(value.loops).issuperset(ev.loops)


def _is_of_numpy(ev: Evaluator, target: s.Subscript) -> bool:
    """Whether a subscript is an element of an array of numpy's, which only holds numbers."""
    held = list(alternatives(ev.expr(target.value)))
    return all(isinstance(one, Op) and one.name.startswith("numpy.") for one in held)


def _is_part_of_tensor(ev: Evaluator, target: s.Subscript) -> bool:
    """Whether a subscript is certainly no entry of a dict or list; what a forward builds up in tensors ends with it."""
    indices = target.index.items if isinstance(target.index, s.Collection) else (target.index,)
    if any(isinstance(one, s.Operation) and one.operator == "[:]" for one in indices):
        return True
    return ev.forwarding() is not None and is_tensor(ev.expr(target.value))
