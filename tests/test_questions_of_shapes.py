"""Questions of shapes, sizes, sums, masks and axes: however values are joined, each is asked once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from trainlint.facts.ask.asking import Answers, answered_by
from trainlint.facts.ask.mask_parts import Mask
from trainlint.facts.ask.masks import made
from trainlint.facts.ask.sequences import lead
from trainlint.facts.ask.shapes import shape_read
from trainlint.facts.ask.sizes import is_same_size
from trainlint.facts.ask.sums import Sum, summed
from trainlint.facts.model.elements import number_of
from trainlint.facts.model.values import Carried, Choice, Constant, Items, Op, Unknown, Value

Work = Callable[[Value], Any]


def number(value: object) -> Constant:
    return Constant(value=value)


def op(name: str, *inputs: Value, **options: Value) -> Op:
    return Op(name=name, inputs=inputs, options=options)


def joined(name: str, times: int, end: Value) -> Value:
    """`x = x * x`, so many times."""
    for _ in range(times):
        end = op(name, end, end)
    return end


def after(times: int, name: str, end: Value) -> Value:
    for _ in range(times):
        end = op(name, end)
    return end


def slice_from(value: Value, start: Value) -> Op:
    nothing = number(None)
    return op("getitem", value, index=op("[:]", start, nothing, nothing))


def tensor(*sizes: int) -> Op:
    return op("randn", *map(number, sizes))


@pytest.mark.parametrize(
    ("ask", "value", "wanted"),
    [
        pytest.param(shape_read, joined("*", 100, tensor(4, 8)), (4, 8), id="shape"),
        pytest.param(made, joined("and", 100, number(True)), Mask(True), id="mask"),
        pytest.param(summed, joined("+", 60, number(1)), Sum(number=2**60), id="sum"),
    ],
)
def test_what_is_joined_again_and_again_is_asked_once(ask: Work, value: Value, wanted: object) -> None:
    with answered_by(Answers()) as answers:
        assert ask(value) == wanted
    assert answers.steps < 400


def test_equal_sizes_are_compared_once_for_each_pair() -> None:
    length = Unknown(text="length")
    with answered_by(Answers()) as answers:
        assert is_same_size(joined("*", 100, length), joined("*", 100, length))
        assert not is_same_size(joined("*", 100, length), joined("*", 101, length))
    assert answers.steps < 400


def test_sums_of_the_same_products_cancel_out() -> None:
    width = Unknown(text="width")
    one, other = joined("*", 50, width), joined("*", 50, width)
    with answered_by(Answers()) as answers:
        assert summed(op("+", op("-", one, other), number(2))) == Sum(number=2)
        assert summed(op("-", one, joined("*", 49, width))) != Sum()
    assert answers.steps < 400


def test_the_number_behind_many_signs() -> None:
    assert number_of(after(9_001, "-", number(3))) == -3
    assert number_of(after(9_000, "float_number", number("-inf"))) == float("-inf")


def test_integers_that_no_tensor_holds_are_unknown() -> None:
    with answered_by(Answers()):
        mask = made(joined("*", 80, op("full", number(2), number(3))))
    assert mask is not None
    assert mask.kept is None
    assert number_of(number(10**400)) is None


def test_a_shape_is_known_however_far_back_it_is_written() -> None:
    with answered_by(Answers()):
        assert shape_read(after(3_000, "relu", tensor(4, 8))) == (4, 8)


@pytest.mark.parametrize("first", ("start", "back"))
def test_the_shape_of_what_a_loop_changes_is_unknown(first: str) -> None:
    carried = Carried(start=tensor(4, 8), loop=1)
    carried.back = Choice(options=(((), op("relu", carried)), ((), op("*", carried, carried))))
    with answered_by(Answers()):
        shape_read(getattr(carried, first))
        assert shape_read(carried) is None
        assert shape_read(carried.back) is None
        assert shape_read(carried.start) == (4, 8)


def test_a_list_in_itself_has_no_shape() -> None:
    rows = Items(items=[number(1)])
    rows.items.append(rows)
    with answered_by(Answers()):
        assert shape_read(op("tensor", rows)) is None


def choice(*options: Value) -> Choice:
    return Choice(options=tuple((((f"case {number}", True),), one) for number, one in enumerate(options)))


def test_targets_are_ahead_in_every_case_that_a_loop_may_leave() -> None:
    tokens, others = Unknown(text="tokens"), Unknown(text="others")
    given, target = (Carried(start=slice_from(tokens, number(one)), loop=1) for one in (0, 1))
    given.back = choice(given, slice_from(others, number(0)))
    target.back = choice(target, slice_from(others, number(1)))
    with answered_by(Answers()):
        found = lead(given, target, {})
        assert found is not None
        assert found.steps == 1
        target.back = choice(target, slice_from(others, number(2)))
    with answered_by(Answers()):
        assert lead(given, target, {}) is None


def test_pairs_of_choices_are_looked_at_once() -> None:
    tokens = Unknown(text="tokens")
    given: Value = slice_from(tokens, number(0))
    target: Value = slice_from(tokens, number(1))
    for _ in range(60):
        given, target = choice(given, op("view", given)), choice(target, op("view", target))
    with answered_by(Answers()) as answers:
        found = lead(given, target, {})
    assert found is not None
    assert found.steps == 1
    assert answers.steps < 1_000
