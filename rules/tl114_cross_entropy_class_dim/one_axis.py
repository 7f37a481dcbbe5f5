"""Cross-entropy of one score per sample: with a single axis, that axis is taken for the classes."""

from __future__ import annotations

from trainlint.facts.api.precision import FLOATS
from trainlint.facts.ask.shapes import shape_read
from trainlint.facts.model.elements import number_of
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.values import Named, Op, Value, constant

_SAME = frozenset("output to float double half bfloat16 type clone contiguous dropout".split())
_FLATTENS = frozenset("view reshape flatten ravel".split())


def single_scores(loss: LossCall) -> tuple[Op, bool] | None:
    """The layer of one output whose scores reach a loss on a single axis, and whether that is certain."""
    value, is_flat, is_squeezed = loss.input, False, False
    for _ in range(20):
        if not isinstance(value, Op) or not value.inputs:
            return None
        if value.name == "linear":
            outputs = value.owner.argument(1, "out_features") if value.owner is not None else None
            shape = shape_read(loss.input)
            is_flat = is_flat or (shape is not None and len(shape) == 1)
            is_one = constant(outputs) == 1 and value.at is not None
            is_meant = is_flat or (is_squeezed and _is_float(loss.target))
            return (value, is_flat) if is_one and is_meant else None
        if value.name in ("squeeze", "squeeze_"):
            is_squeezed = True
        elif value.name in _FLATTENS and _leaves_one_axis(value):
            is_flat = True
        elif value.name not in _SAME:
            return None
        value = value.inputs[0]
    return None


def _leaves_one_axis(op: Op) -> bool:
    given = [number_of(one) for one in op.inputs[1:]]
    return given == [-1] or (op.name in ("flatten", "ravel") and not given and not op.options)


def _is_float(target: Value | None) -> bool:
    """Whether targets were certainly made floats, so that they are no indices of classes."""
    if not isinstance(target, Op):
        return False
    dtypes = [one.name for one in (*target.inputs[1:], *target.options.values()) if isinstance(one, Named)]
    return target.name == "float" or (target.name in ("to", "type") and any(one in FLOATS for one in dtypes))
