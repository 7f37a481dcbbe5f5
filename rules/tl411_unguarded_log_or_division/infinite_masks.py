"""Masks of zeros and ones that are multiplied by infinity: zero times infinity is NaN."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trainlint.facts.api.attention import ATTENTION_MASKS
from trainlint.facts.api.meanings import KEEPS
from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.attention import scores_of
from trainlint.facts.ask.masks import made
from trainlint.facts.model.elements import number_of, plain
from trainlint.facts.model.events.operations import AttentionCall, Operation
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Op, Value, alternatives

_COMPARISONS = frozenset("== != < <= > >= not bool logical_not eq ne lt le gt ge".split())
_SUMS = frozenset(("+", "alias"))


def infinite_products(training: Training) -> Iterator[tuple[Op, Op]]:
    """Products of infinity and of a mask that holds zeros, and what puts them on the scores."""
    for value, user in _added(training):
        for one in reached([value], _into):
            if isinstance(one, Op) and plain(one) == "*" and any(map(_has_zeros, _times_infinity(one))):
                yield one, user


def _added(training: Training) -> Iterator[tuple[Value, Op]]:
    for operation in training.events(Operation):
        way = scores_of(operation.output) if operation.output.name == "softmax" else None
        if way is not None:
            added = [one.mask for one in way.maskings if one.way in ("+", "-")]
            yield from ((one, operation.output) for one in (*added, *way.addends))
    for call in training.events(AttentionCall):
        for argument, position in ATTENTION_MASKS[call.name].items():
            yield from ((one, call.output) for one in alternatives(call.argument(position, argument)))


def _into(value: Value) -> Iterable[Value]:
    if not isinstance(value, Op):
        return value.parts()
    name = plain(value)
    return value.inputs if name in _SUMS else value.inputs[:1] if name in KEEPS else ()


def _times_infinity(product: Op) -> list[Value]:
    """What infinity is multiplied with; `finfo(dtype).min` is no infinity."""
    if len(product.inputs) != 2:
        return []
    first, second = product.inputs
    return [one for one, other in ((first, second), (second, first)) if _is_infinite(other)]


def _is_infinite(value: Value) -> bool:
    number = number_of(value)
    is_limit = any(isinstance(one, Op) and one.name == "getattr" for one in reached([value]))
    return number is not None and abs(number) == float("inf") and not is_limit


def _has_zeros(value: Value) -> bool:
    mask = made(value)
    if mask is not None and (mask.parts or mask.kept is not None):
        return mask.kept == 0 or any(one.held == 0 for one in mask.parts)
    for one in reached([value], _kept):
        if isinstance(one, Op) and plain(one) in _COMPARISONS:
            return True
        if isinstance(one, Op) and plain(one) == "-" and len(one.inputs) == 2:
            return number_of(one.inputs[0]) == 1 and number_of(one.inputs[1]) is None
    return False


def _kept(value: Value) -> Iterable[Value]:
    return value.inputs[:1] if isinstance(value, Op) and plain(value) in KEEPS else ()
