"""Nested functions that a function hands back to nobody in sight: its caller calls them, sooner or later."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from trainlint import limits
from trainlint.facts.model.events.calls import CalledBack
from trainlint.facts.model.nodes import Branch
from trainlint.facts.model.values import Items, Table, Value, alternatives
from trainlint.program.evaluate.values import Arguments, FunctionValue
from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator


def called(ev: Evaluator, result: Value, at: s.Span) -> list[Value]:
    """Call what a function that nothing in the program calls has given back: `return train_step`, or several of them, of
    which nobody knows which comes after which. What these return."""
    nodes, returned = ev.nodes, []
    for function in _functions(result):
        if not _is_reached(ev, function):
            way = Branch(None, ())
            nodes.append(way)
            with ev.inside(nodes=way.then):
                ev.emit(CalledBack, at)
                returned.append(ev.call_function(function, Arguments(open=True), at))
            nodes = way.otherwise
    return returned


def _functions(result: Value, depth: int = 0) -> Iterator[FunctionValue]:
    for one in alternatives(result):
        if isinstance(one, FunctionValue):
            yield one
        elif isinstance(one, (Items, Table)) and depth < limits.ELEMENT_DEPTH:
            for part in one.parts():
                yield from _functions(part, depth + 1)


def _is_reached(ev: Evaluator, function: FunctionValue) -> bool:
    return (function.env.path, function.code.at[0]) in ev.trace.reached
