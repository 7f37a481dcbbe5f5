"""Ways through branches and loops: each order of events that a program may take."""

from __future__ import annotations

import itertools

import pytest

from trainlint import limits
from trainlint.facts.model import order
from trainlint.facts.model.events.event import Event
from trainlint.facts.model.nodes import Body, Branch, Exit, Loop, Node, Rounds
from trainlint.finding import Place


def at(line: int) -> Place:
    return Place("train.py", line, 1, line, 2)


def event(line: int) -> Event:
    return Event(at(line))


_keys = itertools.count()


def fork(then: list[Node], otherwise: list[Node] | None = None) -> Branch:
    return Branch(("asked", next(_keys)), (), then, otherwise or [])


def orders(*nodes: Node) -> set[tuple[int, ...]]:
    return {tuple(one.at.line for one in run) for run in order.runs(list(nodes), (Event,))}


def test_continue_leaves_one_round() -> None:
    rounds = Rounds([[event(1), fork([Exit("continue")]), event(2)], [event(3)]])
    assert orders(rounds, event(4)) == {(1, 2, 3, 4), (1, 3, 4)}


def test_break_leaves_all_rounds() -> None:
    rounds = Rounds([[event(1), fork([Exit("break")]), event(2)], [event(3)]])
    assert orders(rounds, event(4)) == {(1, 2, 3, 4), (1, 4)}


def test_return_leaves_what_is_behind_the_rounds() -> None:
    rounds = Rounds([[event(1), fork([Exit("return")]), event(2)], [event(3)]])
    assert orders(rounds, event(4)) == {(1, 2, 3, 4), (1,)}


def test_an_exit_in_rounds_of_a_loop_leaves_the_rounds_alone() -> None:
    loop = Loop(0, at(9), [Rounds([[Exit("break"), event(1)], [event(2)]]), event(3)])
    assert orders(loop) == {(3, 3)}


def test_a_return_in_rounds_leaves_the_function_alone() -> None:
    body = Body([Rounds([[event(1), fork([Exit("return")]), event(2)]])])
    assert orders(body, event(3)) == {(1, 2, 3), (1, 3)}


def test_rounds_in_which_nothing_happens_take_no_ways() -> None:
    rounds = Rounds([[fork([Exit("continue")])] for _ in range(8)])
    choices = [fork([event(2 * one)], [event(2 * one + 1)]) for one in range(3)]
    assert len(orders(*choices, rounds, event(9))) == 8


def test_what_stands_in_rounds_is_found() -> None:
    branch, inner = fork([event(1)]), Loop(0, at(2), [event(3)])
    rounds = Rounds([[branch], [inner]])
    assert list(order.branches([rounds])) == [branch]
    assert list(order.loops([rounds])) == [inner]
    assert [one.at.line for one in order.events([rounds])] == [1, 3]


def test_loops_in_rounds_count_among_those_inside_each_other() -> None:
    body: list[Node] = [event(1)]
    for number in range(limits.LOOPS_TWICE):
        body = [Loop(number, at(9), body)]
    leave = fork([Exit("continue")])
    assert orders(Loop(8, at(9), [Rounds([[leave, *body]])])) == {(), (1,) * 2**limits.LOOPS_TWICE}


def test_beyond_the_ways_that_are_tried_each_branch_still_goes_both_ways() -> None:
    first = fork([event(1), Exit("return")])
    many = [fork([event(10 + one)]) for one in range(12)]
    found = orders(first, event(2), *many, event(3))
    assert (2, 3) in found
    assert all((2, 10 + one, 3) in found for one in range(12))


def test_the_ordinary_way_is_the_one_that_goes_on() -> None:
    checks: list[Node] = [fork([Exit("raise")]) for _ in range(limits.ORDERS)]
    checks += [fork([], [Exit("raise")]) for _ in range(9)]
    assert (1,) in orders(*checks, event(1))


def test_where_ways_take_too_long_the_ordinary_one_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "ORDER_STEPS", 1)
    checks: list[Node] = [fork([Exit("raise")]) for _ in range(5)]
    assert orders(*checks, event(1)) == {(), (1,)}
