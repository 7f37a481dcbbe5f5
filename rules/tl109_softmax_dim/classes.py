"""The axis of log-probabilities along which a loss chooses a class, or sums over classes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from trainlint.facts.api.attention import MIXES
from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.evidence import shape_of
from trainlint.facts.ask.flow import is_made_of, made_of
from trainlint.facts.ask.shapes import shape_read
from trainlint.facts.model.elements import number_of, plain
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.events.operations import Operation
from trainlint.facts.model.events.steps import Backward
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Items, Op, Value

_KEEPS = frozenset(
    "output to type float double half bfloat16 clamp - * / alias identity clone contiguous".split()
)
_SCATTERS = (".scatter(…)", ".scatter_(…)")
"""How calls of methods end that write the ones of one-hot targets."""


class Beside(NamedTuple):
    """A softmax over one axis, and what takes another one for the classes.

    Args:
        is_sure: whether these are two axes, and not the only one, counted from both ends.
    """

    softmax: Op
    dim: int
    axis: int
    by: Op
    is_sure: bool


def beside_the_classes(training: Training) -> Iterator[Beside]:
    """Log-probabilities over another axis than that of the classes."""
    dims = {
        one.output.uid: int(dim)
        for one in training.events(Operation)
        if one.output.name in ("softmax", "log_softmax")
        and (dim := number_of(one.output.option(1, "dim"))) is not None
    }
    if not dims:
        return
    used: list[Value] = [one.output for one in training.events(LossCall)]
    used += [one.loss for one in training.events(Backward)]
    used += [one.value for one in training.handed_out()]
    for op in reached(used):
        for softmax, axis in _chosen(op) if isinstance(op, Op) and op.at is not None else ():
            if softmax.uid in dims and not is_of_pairs(softmax):
                dim = dims[softmax.uid]
                is_other = _is_other(softmax, dim, axis)
                if is_other is not False and isinstance(op, Op):
                    yield Beside(softmax, dim, axis, op, is_other is True)


def _chosen(op: Op) -> Iterator[tuple[Op, int]]:
    """The softmax whose logarithm an operation works on, and the axis that it takes for the classes."""
    name = plain(op)
    if name == "gather" and op.inputs:
        axis, index = number_of(op.option(1, "dim")), op.option(2, "index")
        softmax = _log_of(op.inputs[0])
        if softmax and isinstance(axis, int) and index is not None and not is_made_of(index, softmax):
            yield softmax, axis
    elif name == "getitem" and op.inputs and _is_row_by_row(op.options.get("index")):
        if softmax := _log_of(op.inputs[0]):
            yield softmax, 1
    elif name == "sum" and op.inputs:
        axis = number_of(op.option(1, "dim"))
        if isinstance(axis, int):
            found = _weighed(op.inputs[0])
            yield from ((softmax, axis) for softmax, target in found if not _is_softmax_of(target, softmax))
    elif name == "kl_div" and len(op.inputs) > 1:
        softmax, axis = _log_of(op.inputs[0]), _of_targets(op.inputs[1])
        if softmax and axis is not None:
            yield softmax, axis


def _log_of(value: Value) -> Op | None:
    """The softmax whose logarithm a value is."""
    is_log = False
    while isinstance(value, Op) and value.inputs:
        if value.name == "log_softmax" or (value.name == "softmax" and is_log):
            return value
        if plain(value) == "log":
            is_log = True
        elif not (value.name in _KEEPS or _is_safe_from_zero(value)) or value.written:
            return None
        value = value.inputs[0]
    return None


def _is_safe_from_zero(op: Op) -> bool:
    """`probabilities + 1e-8`."""
    return op.name == "+" and len(op.inputs) == 2 and number_of(op.inputs[1]) is not None


def _is_row_by_row(index: Value | None) -> bool:
    """`[torch.arange(n), target]`."""
    if not isinstance(index, Items) or len(index.items) != 2:
        return False
    rows, chosen = index.items
    return (
        isinstance(rows, Op) and rows.name in ("arange", "range") and not isinstance(number_of(chosen), int)
    )


def _weighed(value: Value) -> Iterator[tuple[Op, Value]]:
    """Log-probabilities that are multiplied with targets, and these."""
    while isinstance(value, Op) and len(value.inputs) == 1 and plain(value) == "-":
        value = value.inputs[0]
    if isinstance(value, Op) and plain(value) == "*" and len(value.inputs) == 2:
        first, second = value.inputs
        for one, other in ((first, second), (second, first)):
            softmax = _log_of(one)
            if softmax is not None and number_of(other) is None:
                yield softmax, other


def _is_softmax_of(target: Value, softmax: Op) -> bool:
    """Whether targets are probabilities of the same scores, as in an entropy."""
    scores = softmax.inputs[0] if softmax.inputs else softmax
    pieces = made_of(target, lambda op: op.name.endswith("_like") or op.name in ("shape", "size"))
    return any(one is softmax or one is scores for one in pieces)


def _of_targets(value: Value) -> int | None:
    """The axis along which targets are a distribution."""
    while isinstance(value, Op):
        for write in (value, *value.written):
            if write.text.endswith(_SCATTERS):
                axis = number_of(write.option(1, "dim"))
                return int(axis) if axis is not None else None
        if value.name == "softmax":
            axis = number_of(value.option(1, "dim"))
            return int(axis) if axis is not None else None
        if (value.name not in _KEEPS and value.name != "detach") or not value.inputs:
            return -1 if value.name == "one_hot" else None
        value = value.inputs[0]
    return None


def is_of_pairs(softmax: Op) -> bool:
    """Whether the scores are similarities of pairs, which losses may normalise along either axis."""
    value: Value | None = softmax.inputs[0] if softmax.inputs else None
    while isinstance(value, Op) and value.inputs:
        name = plain(value)
        if name in MIXES or name in ("cosine_similarity", "cdist"):
            return True
        if value.name not in (*_KEEPS, "masked_fill", "transpose", "t", "T", "mT", "exp", "+"):
            return False
        value = value.inputs[0]
    return False


def _is_other(softmax: Op, dim: int, axis: int) -> bool | None:
    """Whether two axes of scores differ; None where the scores may have no other."""
    rank = _rank(softmax)
    if rank is not None:
        return rank > 1 and dim % rank != axis % rank
    if (dim < 0) is (axis < 0):
        return dim != axis
    return None if (dim, axis) in ((0, -1), (-1, 0)) else False


def _rank(softmax: Op) -> int | None:
    shape = shape_of(softmax) or (shape_read(softmax.inputs[0]) if softmax.inputs else None)
    return len(shape) if shape else None
