"""`with`: what context managers make of what is done inside."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from trainlint.facts.model.events.calls import Called
from trainlint.facts.model.events.event import Escape
from trainlint.facts.model.events.parameters import GradSwitch
from trainlint.facts.model.events.steps import Backward
from trainlint.facts.model.nodes import Node
from trainlint.facts.model.order import events
from trainlint.facts.model.values import Choice, Items, Op, Value, alternatives
from trainlint.program.api import elements, frameworks, grad_modes
from trainlint.program.evaluate import around, assigning, contexts
from trainlint.program.evaluate.blocks import Signal, block
from trainlint.program.evaluate.conditions import Guard
from trainlint.program.evaluate.forking import Ways, fork
from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator


def with_statement(ev: Evaluator, node: s.With) -> Signal:
    return _within(ev, node, list(node.items))


def _within(ev: Evaluator, node: s.With, items: list[tuple[s.Expr, s.Expr | None]]) -> Signal:
    """The body of a `with` inside of those of its contexts that are not entered yet."""
    if not items:
        return _body(ev, node)
    (context, target), *others = items
    before, value = ev.records, ev.expr(context)
    ev.set_recording(before)  # `set_grad_enabled` has switched it, but until the end of the block alone

    def inside(chosen: Value) -> Signal:
        with _entering(ev, context, chosen, target):
            return _within(ev, node, others)

    ways = _switch(ev, value)
    if ways is None:
        return inside(value)
    guard, yes, no = ways

    def assume(outcome: bool) -> None:
        ev.assume((guard if outcome else (guard[0], not guard[1]),))

    return fork(ev, guard, frozenset(), Ways(lambda outcome: inside(yes if outcome else no), assume, assume))


def _switch(ev: Evaluator, value: Value) -> tuple[Guard, Value, Value] | None:
    """A condition on which it depends whether autograd records inside a context, and the contexts of its two ways."""
    if contexts.records_in(ev, value, ev.records) is not None or not isinstance(value, Choice):
        return None
    match value.options:
        case ((((condition, outcome),), yes), (((other, instead),), no)) if (
            condition == other and outcome is not instead
        ):
            return (condition, outcome), yes, no
    return None


def _body(ev: Evaluator, node: s.With) -> Signal:
    awaits = sum("raises" in ev.label(context).lower() for context, _ in node.items)
    if not awaits:
        return block(ev, node.body)
    meant_to_fail: list[Node] = []  # it is no training
    with ev.inside(nodes=meant_to_fail), trying(ev, awaits):
        signal = block(ev, node.body)
    if tried := tuple(_given_to(meant_to_fail)):
        ev.emit(Escape, node.items[0][0].at, tensors=tried)
    return signal


def _given_to(nodes: list[Node]) -> Iterator[Value]:
    """The tensors that code which is meant to fail may run the backward of, before it does."""
    for event in events(nodes):
        if isinstance(event, Backward):
            yield event.loss
        elif isinstance(event, Escape):
            yield from (one for one in (*event.values, *event.tensors) if isinstance(one, Op))


@contextmanager
def _entering(ev: Evaluator, context: s.Expr, value: Value, target: s.Expr | None) -> Iterator[None]:
    """What is done inside is done under `with context as target`."""
    records, regions = contexts.records_in(ev, value, ev.records), contexts.autocast_in(ev, value)
    ev.frames[-1].casts |= bool(regions)
    entered = ev.here.regions + frameworks.regions_in(value)
    if any(grad_modes.records_inside(one) in (True, None) for one in alternatives(value)):
        ev.emit(GradSwitch, context.at, records=None)
    with ev.inside(records=records, autocast=ev.here.autocast + regions, regions=entered):
        if isinstance(value, Op) and value.name == "device":
            ev.emit(Called, context.at, name="torch.set_default_device", args=(value,))
        contexts.opened(ev, value)
        bound = around.enter(ev, value, context.at)
        if target is not None:
            assigning.assign(ev, target, _bound(ev, bound, context))
        yield
    contexts.closed(ev, value, context.at)


@contextmanager
def trying(ev: Evaluator, blocks: int) -> Iterator[None]:
    """So many blocks that wait for an exception stand around what is done inside."""
    frame = ev.frames[-1]
    frame.trying += blocks
    try:
        yield
    finally:
        frame.trying -= blocks


_GIVE_THEIR_OWN = frozenset(("contextlib.nullcontext", "contextlib.closing"))
"""Contexts that bind what they are given."""


def _bound(ev: Evaluator, value: Value, context: s.Expr) -> Value:
    """What `as name` binds."""
    if isinstance(value, Op) and value.name in _GIVE_THEIR_OWN and value.inputs:
        return value.inputs[0]
    return elements.element(ev, value, context.at) if isinstance(value, Items) else value
