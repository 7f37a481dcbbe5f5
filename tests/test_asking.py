"""Questions of values: remembered, through cycles and joins, however deep, and never without an end."""

from __future__ import annotations

import pytest

from trainlint import limits
from trainlint.facts.ask.asking import Answers, answered_by, question, reached
from trainlint.facts.model.effort import OutOfSteps, spend
from trainlint.facts.model.values import Carried, Constant, Op, Value


@question(start=frozenset(), unknown=frozenset(("?",)))
def names(value: Value) -> frozenset[str]:
    """Everything that a value is made of."""
    own = frozenset((value.name,)) if isinstance(value, Op) else frozenset()
    return own.union(*(names(part) for part in value.parts()))


@question(start=0, unknown=-1)
def restless(value: Value) -> int:
    """Answers of a cycle that never stay the same."""
    return sum(restless(part) for part in value.parts()) + 1


@question(start=False, unknown=False)
def has_constant(value: Value) -> bool:
    return isinstance(value, Constant) or any(has_constant(part) for part in value.parts())


def chain(length: int, end: Value) -> Value:
    for number in range(length):
        end = Op(name=f"op{number % 3}", inputs=(end,))
    return end


def diamonds(length: int) -> Value:
    value: Value = Op(name="x")
    for _ in range(length):
        value = Op(name="+", inputs=(value, value))
    return value


def ring(*middle: str) -> Carried:
    """A variable that a loop changes by these operations."""
    carried = Carried(start=Op(name="start"), loop=1)
    value: Value = carried
    for name in middle:
        value = Op(name=name, inputs=(value,))
    carried.back = value
    return carried


def test_a_value_is_asked_once_however_many_ways_lead_to_it() -> None:
    with answered_by(Answers()) as answers:
        assert names(diamonds(60)) == {"x", "+"}
    assert answers.steps == 61


def test_a_second_question_costs_nothing() -> None:
    value = diamonds(10)
    with answered_by(Answers()) as answers:
        names(value)
        before = answers.steps
        names(value)
        assert answers.steps == before
        has_constant(value)
        assert answers.steps == before * 2


def test_a_chain_is_followed_however_long() -> None:
    with answered_by(Answers()) as answers:
        assert has_constant(chain(20 * limits.QUESTION_DEPTH + 7, Constant(value=1)))
    assert not answers.gave_up
    assert answers.steps < 50 * limits.QUESTION_DEPTH


@pytest.mark.parametrize("entry", range(4))
def test_every_value_of_a_cycle_has_the_answer_of_all(entry: int) -> None:
    carried = ring("a", "b", "c")
    members = [carried, *(one for one in reached([carried]) if isinstance(one, Op) and one.inputs)]
    with answered_by(Answers()):
        assert names(members[entry]) == {"start", "a", "b", "c"}
        assert all(names(one) == {"start", "a", "b", "c"} for one in members)


def test_cycles_inside_cycles() -> None:
    inner = ring("a")
    outer = Carried(start=inner, loop=2)
    outer.back = Op(name="b", inputs=(outer, inner))
    inner.start = Op(name="c", inputs=(outer,))
    for first in (inner, outer, outer.back):
        with answered_by(Answers()):
            assert names(first) == {"a", "b", "c"}
            assert names(inner) == names(outer) == {"a", "b", "c"}


def test_a_cycle_that_is_never_done_is_unknown() -> None:
    with answered_by(Answers()) as answers:
        assert restless(ring("a")) == -1
    assert answers.gave_up == {"restless": 1}


def test_the_budget_ends_what_asks() -> None:
    with answered_by(Answers()) as answers:
        with answers.allowing(50), pytest.raises(OutOfSteps):
            names(chain(100, Op(name="x")))
        with answers.allowing(200):
            assert "x" in names(chain(100, Op(name="x")))


def test_walks_are_counted() -> None:
    with answered_by(Answers()) as answers:
        assert len(list(reached([chain(10, Op(name="x"))]))) == 11
        spend(4)
    assert answers.steps == 15


def test_nothing_is_remembered_of_values_that_change() -> None:
    value = Carried(start=Op(name="start"))
    with answered_by(Answers(changing=True)):
        assert names(value) == {"start"}
        value.back = Op(name="later")
        assert names(value) == {"start", "later"}


def test_what_lasts_is_remembered_all_the_same() -> None:
    asked = []

    @question(start=False, unknown=False, lasts=True)
    def once(value: Value) -> bool:
        asked.append(value)
        return True

    value = Op(name="x")
    with answered_by(Answers(changing=True)):
        assert once(value) and once(value)
    assert asked == [value]
    with answered_by(Answers(changing=True)):
        once(value)
    assert asked == [value, value]


def test_an_error_leaves_nothing_half_asked() -> None:
    @question(start=0, unknown=0)
    def fails(value: Value) -> int:
        if isinstance(value, Constant):
            raise ValueError
        return sum(fails(part) for part in value.parts())

    value = chain(3, Constant(value=1))
    with answered_by(Answers()):
        for _ in range(2):
            with pytest.raises(ValueError):
                fails(value)
        assert has_constant(value)
