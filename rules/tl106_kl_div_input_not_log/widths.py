"""Means over all elements that the program itself turns into sums over the classes."""

from __future__ import annotations

from collections.abc import Iterator

from trainlint.facts.ask.asking import reached
from trainlint.facts.model.events.event import Returned
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.events.steps import Backward
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Constant, Items, Op, Value, constant


def is_times_classes(training: Training, loss: LossCall) -> bool:
    """Whether a loss is multiplied by the number of classes: that gives the mean over samples."""
    begun = [one.loss for one in training.events(Backward)]
    begun += [one.value for one in training.events(Returned)]
    ends = [end for given in (loss.input, loss.target) if given is not None for end in _ends(given)]
    for one in reached(begun):
        if isinstance(one, Op) and one.name in ("*", "mul"):
            factors = list(_factors(one))
            if loss.output in factors and any(_is_width(factor, ends) for factor in factors):
                return True
    return False


def _factors(product: Value) -> Iterator[Value]:
    return (one for one in reached([product], _of_product) if not _of_product(one))


def _of_product(value: Value) -> tuple[Value, ...]:
    return value.inputs if isinstance(value, Op) and value.name in ("*", "mul") else ()


def _is_width(factor: Value, ends: list[Value]) -> bool:
    """Whether a factor is the size of the axis of classes, or how many classes are cut out of the scores."""
    match factor:
        case (
            Op(name="size", inputs=(_, axis))
            | Op(name="getitem", inputs=(Op(name="shape"),), options={"index": axis})
        ):
            return constant(axis) in (1, -1)
    return any(
        factor is end or (constant(end) is not None and constant(end) == constant(factor)) for end in ends
    )


def _ends(scores: Value) -> Iterator[Value]:
    """Where the last axis of what scores are made of is cut off: `n` of `scores[:, :n]`."""
    for one in reached([scores]):
        match one:
            case Op(
                name="getitem",
                options={"index": Items(items=[*_, Op(inputs=(Constant(value=None), end, _))])},
            ):
                yield end
