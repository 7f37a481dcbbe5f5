"""Losses that only steps, such as `argmax`, tie to the parameters they should train."""

from __future__ import annotations

from collections.abc import Iterator

from trainlint.facts.api.gradients import FLAT, NO_GRADIENT, STEPS
from trainlint.facts.ask.attachment import attachment, has_attached_input, terms
from trainlint.facts.ask.flow import made_of
from trainlint.facts.model.values import Items, Op, Value


def stopped(loss: Value) -> Iterator[tuple[Value, list[Op]]]:
    """The terms of a loss that only operations without a gradient tie to trainable parameters, and those operations."""
    for term in terms(loss):
        found = attachment(term)
        if found.uncertain or found.is_cut:
            continue
        ends = _flat(term) if found.attached else list(_steps(term))
        if ends:
            yield term, ends


def _steps(term: Value) -> Iterator[Op]:
    """Operations such as `argmax` between a number and trainable parameters."""

    def ends(op: Op) -> bool:
        return has_attached_input(op) or (op.name in NO_GRADIENT and op.name not in STEPS)

    for one in made_of(term, ends):
        if isinstance(one, Op) and one.name in STEPS and has_attached_input(one):
            yield one


def _flat(term: Value) -> list[Op]:
    """Steps such as `round` through which, as a run has shown, all that is attached to a value passes."""
    found: list[Op] = []
    for one in made_of(term, lambda op: not op.attached or op.name in FLAT):
        if not isinstance(one, Op) or not one.attached:
            continue
        if one.name in FLAT:
            found.append(one)
        elif not any(isinstance(inner, Op) and inner.attached for inner in _tensors(one)):
            return []
    return found


def _tensors(op: Op) -> Iterator[Value]:
    """The values that go into an operation, those in lists too."""
    for one in op.parts():
        yield from one.items if isinstance(one, Items) else (one,)


def is_compared(value: Value) -> bool:
    """Whether a number is made of a comparison, as the share of right answers is."""
    return any(
        isinstance(one, Op) and one.name in ("==", "!=", "eq", "ne")
        for one in made_of(value, has_attached_input)
    )
