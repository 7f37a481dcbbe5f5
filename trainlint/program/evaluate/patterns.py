"""Patterns of `match`: whether a value fits one, and what the names in it are bound to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trainlint.facts.model.values import Constant, Items, Object, Table, Value
from trainlint.program.api import builtin, folding, subscripts
from trainlint.program.evaluate import keys, names
from trainlint.program.evaluate.values import Arguments, ClassValue, Library
from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator


def part(ev: Evaluator, subject: Value, steps: s.Steps, at: s.Span) -> Value:
    """What stands somewhere in a value."""
    for kind, told in steps:
        subject = names.settle(ev, _step(ev, subject, kind, told, at))
    return subject


def _step(ev: Evaluator, value: Value, kind: str, told: Any, at: s.Span) -> Value:
    match kind:
        case "key" | "place":
            return subscripts.item(ev, value, Constant(value=told), at)
        case "attribute":
            return ev.attribute(value, told, at, told)
        case "field":
            return _field(ev, value, told, at)
        case "between":
            first, after = told
            if isinstance(value, Items):
                rest = value.items[first : len(value.items) - after] if value.exact else value.items
                return Items(items=list(rest), exact=value.exact)
        case _:
            if isinstance(value, Table):
                left = {key: one for key, one in value.entries.items() if key not in told}
                return Table(entries=left, others=list(value.others), loops=ev.loops)
    return ev.unknown("rest")


def _field(ev: Evaluator, value: Value, place: int, at: s.Span) -> Value:
    """What `Config(first, second)` takes of a record."""
    match value:
        case Object(definition=ClassValue() as cls) if place < len(cls.fields):
            return ev.attribute(value, cls.fields[place], at)
        case Object(type="collections.namedtuple"):
            return ev.store.get((value.uid, keys.item(place))) or ev.unknown("field")
    return ev.unknown("field")


def fits(ev: Evaluator, subject: Value, case: s.Case, at: s.Span) -> tuple[bool | None, Value | None]:
    """Whether a value certainly fits, or certainly does not; and the one test that decides it, where that is open and it is
    one."""
    is_open = not case.is_told
    tests: list[Value | None] = []
    for asked in case.asks:
        outcome, test = _answer(ev, part(ev, subject, asked.steps, at), asked, at)
        if outcome is False:
            return False, None
        if outcome is None:
            tests.append(test)
    if is_open or tests:
        return None, tests[0] if len(tests) == 1 and not is_open else None
    return True, None


def _answer(ev: Evaluator, value: Value, asked: s.Asked, at: s.Span) -> tuple[bool | None, Value | None]:
    match asked.kind:
        case "one of":
            wanted = [Constant(value=one) for one in asked.told]
            operands = (value, wanted[0] if len(wanted) == 1 else Items(items=list(wanted)))
            operator = "==" if len(wanted) == 1 else "in"
            folded = folding.fold(operator, operands)
            if isinstance(folded, Constant):
                return bool(folded.value), None
            return None, ev.op(operator, operands, at)
        case "is a":
            return _is_a(ev, value, ev.expr(asked.told), at), None
        case "holds" | "is a dict":
            return _holds(value, asked), None
    count, may_be_longer = asked.told
    match value:
        case Items(exact=True, items=items):
            return len(items) == count or (may_be_longer and len(items) > count), None
        case Table() | Constant(is_default=False):
            return False, None
    return None, None


def _is_a(ev: Evaluator, value: Value, cls: Value, at: s.Span) -> bool | None:
    if isinstance(value, Constant) and not value.is_default and isinstance(cls, Library):
        return cls.name == f"builtins.{type(value.value).__name__}"
    answer = builtin.call(ev, "isinstance", Arguments((value, cls)), at, "isinstance(…)")
    return bool(answer.value) if isinstance(answer, Constant) else None


def _holds(value: Value, asked: s.Asked) -> bool | None:
    """Whether a value is a dict, and has a key."""
    match value:
        case Table(entries=entries, others=others):
            is_there = asked.kind == "is a dict" or asked.told in entries
            return True if is_there else None if others else False
        case Items() | Constant(is_default=False):
            return False
    return None


def bind(ev: Evaluator, subject: Value, case: s.Case, at: s.Span) -> None:
    """Bind the names of a pattern that a value fits."""
    known = {one.name: one.steps for one in case.binds}
    for name in case.names:
        found = part(ev, subject, known[name], at) if name in known else ev.unknown(name)
        names.bind(ev, name, found)
