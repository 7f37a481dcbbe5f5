"""Tensors without an axis."""

from __future__ import annotations

from trainlint.facts.api.losses import LOSS_FUNCTIONS
from trainlint.facts.ask.asking import question
from trainlint.facts.model.values import Choice, Constant, Op, Value, constant

_REDUCES = ("mean", "sum")
_ARITHMETIC = frozenset("+ - * / add sub mul div neg".split())
_KEEPS = frozenset("data detach clone contiguous float double half to cuda cpu".split())
_OF_EACH = ("reduction", "reduce")
"""Arguments by which a loss is told to keep that of each sample."""


@question(start=False, unknown=False)
def is_single(value: Value) -> bool:
    """Whether a tensor certainly is one number without an axis: a loss that is a mean or a sum, or made of such losses."""
    match value:
        case Choice():
            return all(map(is_single, value.parts()))
        case Op() if value.name in LOSS_FUNCTIONS:
            return _is_reduced(value)
        case Op(inputs=(_,)) if value.name in _REDUCES:
            return not value.options and value.text.endswith(f".{value.name}(…)")
        case Op() if value.name in _ARITHMETIC:
            return any(map(is_single, value.inputs)) and all(
                is_single(one) or _is_number(one) for one in value.inputs
            )
        case Op(inputs=(first, *_)) if value.name in _KEEPS:
            return is_single(first)
    return False


def _is_reduced(loss: Op) -> bool:
    """Whether a loss is told nothing of how to reduce that of each sample, or `"mean"` or `"sum"`."""
    owner = loss.owner
    if owner is not None and (owner.is_open or owner.definition is not None):
        return False
    given = {**(owner.options if owner is not None else {}), **loss.options}
    asked = [constant(given[name]) for name in _OF_EACH if name in given]
    return all(one in _REDUCES or one is True for one in asked) and len(loss.inputs) <= 2


def _is_number(value: Value) -> bool:
    return isinstance(value, Constant) and isinstance(value.value, (int, float))
