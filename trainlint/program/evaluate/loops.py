"""A loop as one iteration of many, or item by item."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from trainlint.facts.model.events.operations import Discarded
from trainlint.facts.model.nodes import Loop, Rounds
from trainlint.facts.model.values import (
    Carried,
    Items,
    Op,
    Value,
)
from trainlint.program.api import elements
from trainlint.program.api.lists import is_unrolled, numbered, unrolled
from trainlint.program.evaluate import assigning, names
from trainlint.program.evaluate.blocks import Signal, block, decided
from trainlint.program.evaluate.shared_names import changed_by_calls
from trainlint.program.evaluate.values import Env
from trainlint.program.source import rebinding, shape
from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator


def for_statement(ev: Evaluator, node: s.For) -> Signal:
    iterable = elements.listed(ev.expr(node.iterable))
    if isinstance(iterable, Items) and is_unrolled(ev, iterable):
        signal, rest = _item_by_item(ev, node, iterable)
        if signal is not None:
            return None if signal == "break" else signal
        if not rest:
            return decided(ev, node.orelse)
        iterable = Items(items=rest, exact=False)
    elif isinstance(iterable, Items) and iterable.is_begun:
        first, others = _parted(iterable)
        if is_unrolled(ev, first):
            signal, rest = _item_by_item(ev, node, first)
            if signal is not None:
                return None if signal == "break" else signal
            iterable = Items(items=[*rest, *others.items], exact=False)

    code = ev.frames[-1].code
    lost = list(rebinding.lost(node, code.body)) if code is not None else []
    before: dict[str, Value | None] = {}

    def bind() -> None:
        assigning.assign(ev, node.target, elements.element(ev, iterable, node.iterable.at))
        before.update((name, ev.store.get((ev.env.uid, name))) for _, name in lost)

    signal = _loop(ev, node, node.body, bind, iterable)
    for assign, name in lost:
        _note_lost(ev, assign, name, before.get(name))
    decided(ev, node.orelse)
    return signal


def _parted(begun: Items) -> tuple[Items, Items]:
    """The items that a list certainly begins with, and those of which nobody knows how many there are."""
    count = len(begun.items) - begun.open_end
    return Items(items=begun.items[:count]), Items(items=begun.items[count:], exact=False)


def _note_lost(ev: Evaluator, assign: s.Assign, name: str, before: Value | None) -> None:
    """Note that a variable of a loop has become something that nothing reads."""
    made = ev.store.get((ev.env.uid, name))
    if isinstance(made, Op) and before is not None and made is not before:
        ev.emit(Discarded, assign.at, name=made.name, tensor=before, text=made.text, kept_in=name, made=made)


def _item_by_item(ev: Evaluator, node: s.For, iterable: Items) -> tuple[Signal, list[Value]]:
    """How the loop was left before its end, if it was, and the items for which the steps would not be enough."""
    made = Rounds()
    ev.nodes.append(made)
    items = list(iterable.items)  # the body may append to it
    begun = ev.work.steps
    with unrolled(ev, iterable):
        for count, one in enumerate(items, 1):
            made.rounds.append([])
            with ev.inside(nodes=made.rounds[-1]):
                assigning.assign(ev, node.target, one)
                signal = block(ev, node.body)
            if signal in ("return", "raise", "break"):
                return signal, []
            if (ev.work.steps - begun) * (len(items) - count) > ev.steps_left() * count:
                return None, items[count:]
    return None, []


def while_statement(ev: Evaluator, node: s.While) -> Signal:
    _loop(ev, node, node.body, lambda: ev.expr(node.test))
    endless = isinstance(node.test, s.Constant) and bool(node.test.value)
    if not endless:
        decided(ev, node.orelse)
    return None


def _loop(
    ev: Evaluator,
    node: s.For | s.While,
    body: s.Block,
    start: Callable[[], Value | None],
    over: Value | None = None,
) -> Signal:
    """One iteration that stands for many: names that the body assigns are carried into it, and constants that functions
    change which it calls."""
    carried: dict[tuple[Env, str], Carried] = {}
    with loop(ev, node.at, over, body) as number:
        assigned = [(ev.env.declared.get(name, ev.env), name) for name in _names_assigned(ev, node, body)]
        for env, name in dict.fromkeys((*assigned, *changed_by_calls(ev, body))):
            before = ev.store.get((env.uid, name))
            if before is not None:
                carried[env, name] = Carried(start=before, loop=number)
                names.bind(ev, name, carried[env, name], env)
        test = start()
        signal = block(ev, body)
    made = ev.nodes[-1]
    if isinstance(made, Loop):
        made.test = test
        made.times = shape.last_named(node.iterable) if isinstance(node, s.For) else ""
    for (env, name), value in carried.items():
        after = ev.store.get((env.uid, name))
        if after is value:
            names.bind(ev, name, value.start, env)
        else:
            value.back = after
    return signal if signal in ("return", "raise") and isinstance(node, s.While) else None


@contextmanager
def loop(ev: Evaluator, at: s.Span, over: Value | None = None, body: s.Block = ()) -> Iterator[int]:
    """What happens inside happens in every iteration of a loop, which has this number."""
    number = next(ev.loop_numbers)
    ev.uses.begin(number, body, len(ev.frames))
    loop = Loop(number, ev.place(at), over=numbered(over))
    with ev.inside("known", "guards", nodes=loop.body, loops=(*ev.loops, number)):
        yield number
    ev.nodes.append(loop)


def _names_assigned(ev: Evaluator, node: s.For | s.While, body: s.Block) -> frozenset[str]:
    found = ev.assigned_names.get(id(node))
    if found is None:
        found = ev.assigned_names[id(node)] = frozenset(shape.assigned(body))
    return found
