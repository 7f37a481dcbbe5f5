"""Weights that are normalised over their first axis, which stays as it is when something is summed with them over another one:
what is shared out among samples is then added up within each."""

from __future__ import annotations

from collections.abc import Iterator

from trainlint.facts.api.attention import MIXES
from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.new_axes import new_axis
from trainlint.facts.model.elements import number_of, plain
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.events.operations import Attended
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Op, Value, alternatives

from .attention_axis import letters_of, operands_of
from .layout import begins_with_batch

_KEEPS = frozenset(
    "output dropout to type type_as float double half bfloat16 masked_fill alias identity contiguous clone cuda detach "
    "expand expand_as squeeze".split()
)
_SCALES = frozenset("/ * tanh relu leaky_relu".split())
"""What scores may have gone through behind the layer that gave them."""


def samples_stay(training: Training, over_first: list[Op]) -> Iterator[tuple[Op, Op, int]]:
    """Each such softmax, of those over the first axis, the sum, and the axis that it should normalise."""
    found = {
        one.uid
        for one in over_first
        if one.name == "softmax" and all(map(_is_computed, alternatives(one.inputs[0])))
    }
    if not found:
        return
    for attended in training.events(Attended):
        for axis in _summed(attended):
            yield from _followed(attended.weights, axis, attended.output, found)
    ends: list[Value] = [one.output for one in training.events(LossCall)]
    ends += [one.value for one in training.handed_out()]
    sums = [one for one in reached(ends) if isinstance(one, Op) and one.name == "sum" and one.inputs]
    later = {one.inputs[0].uid for one in sums if number_of(one.option(1, "dim")) == 0}
    for total in sums:
        place, product = number_of(total.option(1, "dim")), total.inputs[0]
        if total.uid in later or not isinstance(place, int) or not isinstance(product, Op):
            continue
        for weights in product.inputs if plain(product) == "*" else ():
            for softmax, by, axis in _followed(weights, place, total, found):
                # else there may be another axis between the first and that of the scores
                is_spread = isinstance(weights, Op) and new_axis(weights) is not None
                if is_spread or begins_with_batch(softmax.inputs[0]):
                    yield softmax, by, axis


def _is_computed(scores: Value) -> bool:
    """Whether a layer or a product gave scores for samples: tables of parameters have no samples."""
    if begins_with_batch(scores):
        return True
    while isinstance(scores, Op) and scores.inputs:
        if scores.name == "linear" or plain(scores) in MIXES:
            return True
        if scores.name not in _KEEPS and scores.name not in _SCALES:
            return False
        scores = scores.inputs[0]
    return False


def _summed(attended: Attended) -> Iterator[int]:
    """The axis of the weights, counted from the front, that a product sums over while it keeps the first."""
    product, weights = attended.output, attended.weights
    name = plain(product)
    if name == "einsum":
        letters, operands = letters_of(product), operands_of(product)
        if letters is not None and len(operands) == 2 and len(letters[0]) == 2:
            mine, other = letters[0] if operands[0] is weights else letters[0][::-1]
            gone = [one for one in mine[1:] if one in other and one not in letters[1]]
            if len(gone) == 1 and mine[0] in letters[1]:
                yield mine.index(gone[0])
    elif name in MIXES and len(product.inputs) == 2:
        is_left = product.inputs[0] is weights
        if product.name == "bmm" or (isinstance(weights, Op) and new_axis(weights) == (1 if is_left else 2)):
            yield 2 if is_left else 1


def _followed(weights: Value, axis: int, total: Op, found: set[int]) -> Iterator[tuple[Op, Op, int]]:
    """The softmax that weights come from, if their first axis is still its own, and the axis is not a new one."""
    while axis > 0 and isinstance(weights, Op) and weights.inputs:
        if weights.uid in found:
            yield weights, total, axis
            return
        new = new_axis(weights)
        if new is not None:
            if new in (0, axis):
                return
            axis -= 1 if 0 < new < axis else 0
        elif weights.name not in _KEEPS:
            return
        weights = weights.inputs[0]
