"""What each kind of statement does."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from trainlint.facts.model.events.operations import Asserted
from trainlint.facts.model.nodes import Exit
from trainlint.facts.model.values import Constant, Object, Op, alternatives
from trainlint.program.api import noting
from trainlint.program.evaluate import (
    called,
    classes,
    conditions,
    decorating,
    discarding,
    names,
    narrowing,
    wrapped_names,
)
from trainlint.program.evaluate.assigning import assign_statement, augmented_statement, delete_statement
from trainlint.program.evaluate.blocks import Signal
from trainlint.program.evaluate.branches import if_statement, match_statement, try_statement
from trainlint.program.evaluate.importing import from_statement, import_statement
from trainlint.program.evaluate.loops import for_statement, while_statement
from trainlint.program.evaluate.managers import with_statement
from trainlint.program.evaluate.values import Env
from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator


def _evaluate(ev: Evaluator, node: s.Evaluate) -> None:
    records = ev.here.records
    value = ev.expr(node.value)
    if not isinstance(node.value, s.Call):
        return
    if isinstance(value, Object):
        noting.note_grad_switch(ev, value, node.at, records)
        discarding.note_record(ev, node.value, value)
    for one in alternatives(value):
        if isinstance(one, Op):
            # what a function has bound and returns, it may have looked at
            one.is_ignored = one.at is None or one.at == ev.place(node.value.at)
    if isinstance(value, Op):
        discarding.note(ev, node.value, value)


def _assert(ev: Evaluator, node: s.Assert) -> None:
    """From here on the test is true."""
    test = ev.expr(node.test)
    ev.emit(Asserted, node.at, test=test)
    ev.learn(conditions.implied(test, True))
    narrowing.narrow(ev, node.test, True)


def _return(ev: Evaluator, node: s.Return) -> Signal:
    value = ev.expr(node.value) if node.value is not None else Constant(value=None, at=ev.place(node.at))
    frame = ev.frames[-1]
    if frame.code is not None:
        called.note(value, frame.code.name)
        if node.value is not None:
            wrapped_names.note_returned(ev, node.value, value)
    frame.returns.append((ev.guards[frame.guards :], value))
    ev.nodes.append(Exit("return"))
    return "return"


def _raise(ev: Evaluator, node: s.Raise) -> Signal:
    if node.value is not None:
        ev.expr(node.value)
    ev.nodes.append(Exit("raise"))
    return "raise"


def _jump(ev: Evaluator, node: s.Jump) -> Signal:
    ev.nodes.append(Exit(node.kind))
    return node.kind


def _function(ev: Evaluator, node: s.Function) -> None:
    names.bind(ev, node.name, decorating.define_function(ev, node))


def _class(ev: Evaluator, node: s.Class) -> None:
    names.bind(ev, node.name, classes.define_class(ev, node))


def scope_statement(ev: Evaluator, node: s.Scope) -> None:
    env = ev.env
    target: Env | None = env.parent
    if node.kind == "global":
        while target is not None and target.parent is not None:
            target = target.parent
    if target is not None:
        for name in node.names:
            env.declared[name] = target


DO: dict[type, Callable[[Evaluator, Any], Signal]] = {
    s.Evaluate: _evaluate,
    s.Assert: _assert,
    s.Assign: assign_statement,
    s.AugmentedAssign: augmented_statement,
    s.Return: _return,
    s.If: if_statement,
    s.For: for_statement,
    s.While: while_statement,
    s.With: with_statement,
    s.Function: _function,
    s.Class: _class,
    s.Import: import_statement,
    s.ImportFrom: from_statement,
    s.Try: try_statement,
    s.Raise: _raise,
    s.Jump: _jump,
    s.Match: match_statement,
    s.Scope: scope_statement,
    s.Delete: delete_statement,
}
"""What each kind of statement does."""
