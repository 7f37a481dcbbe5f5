"""Predictions against targets of another shape, anywhere between what a model gives and the loss, as a run has measured them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.evidence import shape_of
from trainlint.facts.model.values import Op, Value

_COMBINES = ("-", "sub", "*", "mul", "/", "div")
_FEWEST = 4
"""Samples of which it is no coincidence that a column and a row are equally long."""
_MOST = 3000


def crossed(term: Value) -> Iterator[Op]:
    """What makes `[N, N]` of a column `[N, 1]` and a row `[N]`, of which one comes from a model and the other is data."""
    for one in reached([term], most=_MOST):
        if not isinstance(one, Op) or one.name not in _COMBINES or len(one.inputs) != 2:
            continue
        shapes = [shape_of(side) or () for side in one.inputs]
        column, row = sorted(shapes, key=len, reverse=True)
        if len(row) == 1 and column == (*row, 1) and row[0] >= _FEWEST and _is_of_both(one.inputs):
            yield one


def _is_of_both(sides: Sequence[Value]) -> bool:
    """Whether one side is made of what a model gave, and gradients go back through it, and none go through the other."""
    learns = [one for one in sides if isinstance(one, Op) and one.attached]
    data = [one for one in sides if isinstance(one, Op) and one.attached is False]
    return len(learns) == len(data) == 1 and any(
        isinstance(one, Op) and one.name == "output" for one in reached(learns, most=_MOST)
    )
