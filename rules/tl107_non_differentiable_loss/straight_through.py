"""Estimators that are to hand a gradient straight through a choice, and of which everything cancels out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeGuard

from trainlint.facts.api.gradients import STEPS, WITH_INDICES
from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.attachment import is_index
from trainlint.facts.ask.behind_losses import operations_behind
from trainlint.facts.ask.sizes import is_number
from trainlint.facts.model.events.event import Returned
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.events.steps import Backward
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Op, Value

_STEPS = STEPS | {"multinomial", "bernoulli"}
_MOST = 400


def cancelled(training: Training) -> Iterator[tuple[Op, Op]]:
    """Sums as `z + (q - z)`, with what is not differentiable in `q`: they are `q`, and `z` gets no gradient by them."""
    if operations_behind(training).isdisjoint(_STEPS | WITH_INDICES):
        return
    begun = [one.value for one in training.events(Returned)]
    begun += (one.loss for one in training.events(Backward))
    begun += (one.output for one in training.events(LossCall))
    for one in reached(begun):
        if not isinstance(one, Op) or one.at is None or one.records is False:
            continue
        for kept, chosen in _taken_and_given(one):
            choice = _choice(chosen, kept) if not is_number(kept) else None
            if choice is not None:
                yield one, choice


def _taken_and_given(op: Op) -> Iterator[tuple[Value, Value]]:
    """What a sum adds and takes away again, and what is left: of `z + (q - z)`, `(q - z) + z` and `z + q - z`."""
    if len(op.inputs) != 2:
        return
    first, second = op.inputs
    if op.name == "+":
        for kept, rest in ((first, second), (second, first)):
            if _is_recorded(rest, "-") and rest.inputs[1] is kept:
                yield kept, rest.inputs[0]
    elif op.name == "-" and _is_recorded(first, "+"):
        for kept, rest in (first.inputs, first.inputs[::-1]):
            if kept is second:
                yield kept, rest


def _is_recorded(value: Value, name: str) -> TypeGuard[Op]:
    """Whether a value is a sum or a difference through which gradients pass: one made under `no_grad` is a constant."""
    return (
        isinstance(value, Op) and value.name == name and len(value.inputs) == 2 and value.records is not False
    )


def _choice(value: Value, of: Value) -> Op | None:
    """The operation without a gradient by which one value is made of another."""
    for one in reached([value], most=_MOST):
        is_step = isinstance(one, Op) and (one.name in _STEPS or is_index(one))
        if is_step and any(inner is of for inner in reached(one.parts(), most=_MOST)):
            return one  # type: ignore[return-value]
    return None
