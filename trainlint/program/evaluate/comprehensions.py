"""Comprehensions: lists and dicts of as many items as a loop has, or of one that stands for many."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainlint.facts.model.values import Items, Object, Op, Table, Value, constant
from trainlint.finding import Place
from trainlint.program.api import elements, filling, lists, same_keys
from trainlint.program.api.lists import is_unrolled, unrolled
from trainlint.program.evaluate import assigning, called, conditions, loops
from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator


def comprehension(ev: Evaluator, node: s.Comprehension) -> Value:
    env = ev.new_env(ev.env.path, ev.env)
    frame = ev.frames[-1]
    outer = frame.env
    exact: list[Value] | None = None
    frame.env = outer
    target, iterable_node, tests = node.loops[0]
    iterable = elements.listed(ev.expr(iterable_node))
    frame.env = env
    try:
        taken = _taken(ev, node, iterable) if len(node.loops) == 1 else None
        if isinstance(iterable, Items) and taken is not None:
            exact = []
            keys: list[Value] = []
            with unrolled(ev, iterable):
                for one in taken:
                    assigning.assign(ev, target, one)
                    if node.key is not None:
                        keys.append(ev.expr(node.key))
                    exact.append(ev.expr(node.element))
            if node.kind == "dict":
                for key, one in zip(keys, exact, strict=True):
                    called.note(one, constant(key))
                return filling.tabled(keys, exact)
            return Items(
                kind="list", items=exact, at=ev.place(node.at), repeated=_of_one_object(ev, node, exact)
            )
        begun = (
            _begun(ev, node, iterable)
            if node.kind == "dict" and len(node.loops) == 1 and not tests
            else Table()
        )
        with loops.loop(ev, node.at):
            drawn = elements.element(ev, iterable, iterable_node.at)
            assigning.assign(ev, target, drawn)
            asked = [ev.expr(test) for test in tests]
            for inner_target, inner_iterable, inner_tests in node.loops[1:]:
                value = ev.expr(inner_iterable)
                assigning.assign(ev, inner_target, elements.element(ev, value, inner_iterable.at))
                asked += [ev.expr(test) for test in inner_tests]
            if node.key is not None:
                ev.expr(node.key)
            element = ev.expr(node.element)
    finally:
        frame.env = outer
        ev.leave(env)
    if node.kind == "dict":
        return Table(entries=begun.entries, others=[element], made_of=same_keys.source(node, iterable, drawn))
    is_older = isinstance(element, Object) and element.loops == ev.loops
    many: list[Value] = [element, element] if is_older else []
    return Items(
        kind="list",
        items=[element],
        exact=False,
        at=ev.place(node.at),
        repeated=_of_one_object(ev, node, many),
        chosen_by=tuple(asked),
        are_trainable=any(isinstance(one, Op) and one.name == "requires_grad" for one in asked),
    )


def _begun(ev: Evaluator, node: s.Comprehension, iterable: Value) -> Table:
    """The first entries of a dict over a list of which the beginning is known: `{token: n for n, token in
    enumerate(["<pad>", "<unk>"] + tokens)}`."""
    keys: list[Value] = []
    values: list[Value] = []
    if node.key is not None:
        for one in lists.beginning(iterable):
            assigning.assign(ev, node.loops[0][0], one)
            keys.append(ev.expr(node.key))
            values.append(ev.expr(node.element))
    return filling.tabled(keys, values)


def _taken(ev: Evaluator, node: s.Comprehension, iterable: Value) -> list[Value] | None:
    """The items that a comprehension is made of one by one; None where these are many, or not all known."""
    target, _, tests = node.loops[0]
    if not isinstance(iterable, Items) or not is_unrolled(ev, iterable):
        return None
    if not tests:
        return list(iterable.items)
    taken = []
    with unrolled(ev, iterable):
        for one in iterable.items:
            assigning.assign(ev, target, one)
            outcomes = [conditions.truth(ev.expr(test), ev.known) for test in tests]
            if None in outcomes:
                return None
            if all(outcomes):
                taken.append(one)
    return taken


def _of_one_object(
    ev: Evaluator, node: s.Comprehension, items: list[Value]
) -> tuple[tuple[Place, Value], ...]:
    """The object that each item of a list is, where it was made before: `[layer for _ in range(n)]`."""
    is_same = len(items) > 1 and isinstance(items[0], Object) and all(one is items[0] for one in items)
    return ((ev.place(node.at), items[0]),) if is_same else ()
