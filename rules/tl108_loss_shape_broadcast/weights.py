"""Errors that are multiplied by weights of another shape: `[N, 1]` by `[N]`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from trainlint.facts.ask.attachment import attachment, terms
from trainlint.facts.model.events.steps import Backward
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Op, Value

from .columns import Kind, is_loss_of_each, kind

_AVERAGES = ("mean", "sum")
_OF_DIFFERENCE = frozenset("** pow abs".split())
_PRODUCTS = ("*", "mul")


class Weighted(NamedTuple):
    """A product of errors and weights, and which is what."""

    product: Op
    errors: Kind
    weights: Kind


def weighted_crosswise(training: Training) -> Iterator[Weighted]:
    """Products in losses of which one side has a gradient and the other is data, a column and a row."""
    for backward in training.events(Backward):
        for term in terms(backward.loss):
            while isinstance(term, Op) and term.name in _AVERAGES and term.inputs:
                term = term.inputs[0]
            if isinstance(term, Op) and term.name in _PRODUCTS and len(term.inputs) == 2:
                yield from _crosswise(term, *term.inputs)
                yield from _crosswise(term, *term.inputs[::-1])


def _crosswise(product: Op, errors: Value, weights: Value) -> Iterator[Weighted]:
    is_error = isinstance(errors, Op) and (errors.name in _OF_DIFFERENCE or is_loss_of_each(errors))
    if is_error and attachment(weights).is_nothing:
        left, right = kind(errors), kind(weights)
        if left is not None and right is not None and left != right:
            yield Weighted(product, left, right)
