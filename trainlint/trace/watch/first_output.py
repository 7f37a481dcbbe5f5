"""From which position on a loss looks at what a model gives."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from trainlint.facts.ask.sequences import index_of
from trainlint.facts.model.values import Constant, Items, Op, Value, constant

_MOST_STEPS = 60
_TAKES_PARTS = frozenset(
    "split chunk tensor_split unbind index_select gather take_along_dim roll flip".split()
)
"""Operations after which nobody says here which position is which."""


def first_output(prediction: Value, length: int) -> int | None:
    """The position of a model's outputs at which a loss begins to compare; None where that is not clear.

    Args:
        length: how many positions there are.
    """
    first = 0
    value: Value | None = prediction
    for _ in range(_MOST_STEPS):
        if not isinstance(value, Op) or value.name == "output" or not value.inputs:
            break
        before = value.inputs[0]
        if value.name in _TAKES_PARTS:
            return None
        if value.name in ("getitem", "narrow"):
            starts = [*_starts(value, before, length)]
            if None in starts:
                return None
            first += sum(one for one in starts if one is not None)
        elif not _keeps_positions(value, before):
            break
        value = before
    return first


def _keeps_positions(op: Op, before: Value) -> bool:
    """Whether a result holds as many numbers as what it is made of, as views of it do, and softmax."""
    counts = [prod(one.seen.shape) for one in (op, before) if isinstance(one, Op) and one.seen is not None]
    return len(counts) == 2 and counts[0] == counts[1]


def _starts(op: Op, before: Value, length: int) -> Iterator[int | None]:
    """Where each axis of all positions begins after an index; None where an index is no slice."""
    shape = before.seen.shape if isinstance(before, Op) and before.seen is not None else ()
    if op.name == "narrow":
        axis, start = constant(op.option(1, "dim")), constant(op.option(2, "start"))
        if isinstance(axis, int) and -len(shape) <= axis < len(shape) and shape[axis] == length:
            yield start if isinstance(start, int) else None
        return
    index = index_of(op)
    parts = index.items if isinstance(index, Items) and index.kind == "tuple" else [index]
    axis = 0
    for number, part in enumerate(parts):
        if isinstance(part, Constant) and part.value is ...:
            axis = len(shape) - (len(parts) - number - 1)
            continue
        if 0 <= axis < len(shape) and shape[axis] == length:
            yield _start(part, length)
        axis += 1


def _start(part: Value | None, length: int) -> int | None:
    if not isinstance(part, Op) or part.name != "[:]":
        return None
    start = constant(part.inputs[0])
    return int(start) % length if isinstance(start, int) else 0
