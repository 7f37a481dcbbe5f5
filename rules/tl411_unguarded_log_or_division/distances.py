"""Distances between all samples of a batch: those of each sample to itself are 0."""

from __future__ import annotations

from collections.abc import Iterator

from trainlint.facts.api.meanings import CLAMPS
from trainlint.facts.ask.new_axes import new_axis
from trainlint.facts.model.effort import spend
from trainlint.facts.model.elements import plain
from trainlint.facts.model.values import Constant, Op, Value, constant

_SAME = frozenset("to float double half clone contiguous output".split())
_TURNS = frozenset("t T mT transpose permute swapaxes".split())
_PLACED = _TURNS | frozenset("getitem unsqueeze view reshape expand expand_as".split())
_MOST = 60


def to_itself(value: Value | None) -> tuple[Op, str] | None:
    """The operation that gives squared distances between all rows of a tensor, and why some are 0; None for all else, and
    where anything is added."""
    value = _unbounded(value)
    if isinstance(value, Op) and not value.written and (_are_differences(value) or _are_products(value)):
        return value, "the distance of each sample to itself is 0 here"
    return None


def _unbounded(value: Value | None) -> Value | None:
    """A value before it was kept from falling below 0, which changes nothing where it is 0."""
    while isinstance(value, Op) and value.inputs and not value.written:
        spend()
        if value.name in CLAMPS and value.name != "clamp_max":
            if constant(value.option(1, "min")) not in (0, 0.0) or value.option(2, "max") is not None:
                return None
        elif value.name not in _SAME:
            break
        value = value.inputs[0]
    return value


def _are_differences(value: Op) -> bool:
    """`((x[:, None] - x[None]) ** 2).sum(-1)`."""
    if value.name not in ("sum", "mean") or not value.inputs:
        return False
    square = value.inputs[0]
    if not isinstance(square, Op) or not square.inputs or square.written:
        return False
    is_square = plain(square) in ("**", "pow") and constant(square.inputs[-1]) in (2, 2.0)
    is_itself = square.name in ("*", "mul") and square.inputs[0] is square.inputs[-1]
    difference = square.inputs[0] if is_square or is_itself or square.name == "square" else None
    match difference:
        case Op(name="-" | "sub", inputs=(Op() as one, Op() as other)):
            places = {new_axis(one), new_axis(other)}
            return len(places) == 2 and None not in places and one.inputs[0] is other.inputs[0]
    return False


def _are_products(value: Op) -> bool:
    """`a[:, None] + a[None] - 2 * x @ x.t()`, where `a` is made of the same `x`."""
    products: list[Value] = []
    sums: set[int] = set()
    count = 0
    for one in _summands(value):
        if _is_constant(one):
            return False
        rows = _rows_multiplied(one)
        if rows is not None:
            products.append(rows)
            continue
        base = _base(one)
        if base is None:
            return False
        sums.add(base)
        count += 1
    return len(products) == 1 and count == 2 and len(sums) == 1


def _summands(value: Value) -> Iterator[Value]:
    pending = [value]
    for _ in range(_MOST):
        if not pending:
            return
        spend()
        one = pending.pop()
        if isinstance(one, Op) and plain(one) in ("+", "-", "add", "sub") and len(one.inputs) == 2:
            pending += one.inputs
        else:
            yield one


def _is_constant(value: Value) -> bool:
    return isinstance(value, Constant)


def _rows_multiplied(value: Value) -> Value | None:
    """The rows of which a term holds all products with each other."""
    value = _unscaled(value)
    if not isinstance(value, Op) or plain(value) not in ("@", "matmul", "mm") or len(value.inputs) != 2:
        return None
    one, other = map(_unscaled, value.inputs)
    if isinstance(other, Op) and other.name in _TURNS and other.inputs and other.inputs[0] is one:
        return one
    return None


def _unscaled(value: Value) -> Value:
    """A value before it was multiplied by a number."""
    while isinstance(value, Op) and value.name in ("*", "mul") and len(value.inputs) == 2:
        spend()
        factors = [one for one in value.inputs if not _is_constant(one)]
        if len(factors) != 1:
            break
        value = factors[0]
    return value


def _base(value: Value) -> int | None:
    """The tensor that stands along one axis of a table, in its rows or columns."""
    is_placed = False
    while isinstance(value, Op) and value.name in _PLACED and value.inputs and not value.written:
        spend()
        is_placed = True
        value = value.inputs[0]
    is_sum = isinstance(value, Op) and value.name in ("sum", "norm", "diag", "diagonal")
    return value.uid if is_placed and is_sum else None
