"""What a test of types says of the values that it asks about, from there on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainlint.facts.ask.attachment import attachment, is_no_tensor
from trainlint.facts.model.values import Carried, Choice, Constant, Items, Object, Op, Table, Value
from trainlint.program.api import filling
from trainlint.program.evaluate import expressions, names
from trainlint.program.evaluate.conditions import Guard
from trainlint.program.evaluate.values import Library
from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator

_NUMBERS = frozenset(
    (
        *(f"builtins.{name}" for name in "float int bool complex str".split()),
        *(f"numbers.{name}" for name in "Number Real Integral Rational Complex".split()),
        *(f"numpy.{name}" for name in "number floating integer generic float32 float64 int64".split()),
    )
)
"""Types of which no tensor is an instance."""


def narrow(ev: Evaluator, test: s.Expr, outcome: bool) -> None:
    """Whatever a test asks of names, attributes and entries: what has to be a number for it to come out so is one, or None."""
    match test:
        case s.Operation(operator="not", operands=(inner,)):
            narrow(ev, inner, not outcome)
        case s.Operation(operator="and" | "or" as operator, operands=parts) if outcome == (operator == "and"):
            for part in parts:
                narrow(ev, part, outcome)
        case s.Operation(
            operator="is" | "is not" as operator, operands=(s.Name() as asked, s.Constant(value=None))
        ) if outcome == (operator == "is"):
            _becomes_none(ev, asked)
        case s.Call(func=s.Name(name="isinstance"), args=(asked, wanted)) if outcome:
            _becomes_number(ev, asked.value, wanted.value)
        case s.Operation(
            operator="is" | "==" | "in" | "is not" | "!=" | "not in" as operator,
            operands=(s.Call(func=s.Name(name="type"), args=(asked,)), types),
        ) if outcome == (operator in ("is", "==", "in")):
            _becomes_number(ev, asked.value, types)


def told(ev: Evaluator, value: Value, guard: Guard, at: s.Span) -> Value:
    """A value, or the number that it has to be where a test has found that it is no tensor, whichever of several it is."""
    return ev.op("number", (), at) if isinstance(value, Choice) and is_no_tensor(value, (guard,)) else value


def _becomes_none(ev: Evaluator, target: s.Name) -> None:
    """What an earlier iteration may have left is not there behind the test."""
    if isinstance(ev.expr(target), Carried):
        names.bind(ev, target.name, Constant(value=None))


def _becomes_number(ev: Evaluator, target: s.Expr, types: s.Expr) -> None:
    """What was a tensor, as far as was known, is a number behind the test."""
    if not isinstance(target, (s.Name, s.Attribute, s.Subscript)) or not _are_numbers(ev.expr(types)):
        return
    value = ev.expr(target)
    if isinstance(value, (Op, Choice, Carried)) and attachment(value).attached:
        _rebind(ev, target, ev.op("number", (), target.at))


def _are_numbers(types: Value) -> bool:
    wanted = types.items if isinstance(types, Items) and types.exact else [types]
    return all(isinstance(one, Library) and one.name in _NUMBERS for one in wanted)


def _rebind(ev: Evaluator, target: s.Expr, number: Value) -> None:
    """Without the events of an assignment, for nothing is assigned."""
    match target:
        case s.Name():
            names.bind(ev, target.name, number)
        case s.Attribute():
            holder = ev.expr(target.value)
            if isinstance(holder, Object):
                ev.store.set((holder.uid, target.name), number)
        case s.Subscript():
            table, key = expressions.unseen(ev, target.value), ev.expr(target.index)
            if isinstance(table, Table) and isinstance(key, Constant) and filling.is_hashable(key.value):
                ev.store.touch(table)
                table.entries[key.value] = number
