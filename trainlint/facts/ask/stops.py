"""Losses that only steps, such as `argmax`, tie to the parameters they should train."""

from __future__ import annotations

from collections.abc import Iterator

from trainlint.facts.api.gradients import FLAT, NO_GRADIENT, STEPS
from trainlint.facts.ask.attachment import attachment, has_attached_input, is_index, terms
from trainlint.facts.ask.flow import made_of
from trainlint.facts.model.values import Constant, Items, Op, Value


def stopped(loss: Value) -> Iterator[tuple[Value, list[Op]]]:
    """The terms of a loss that only operations without a gradient tie to trainable parameters, and those operations."""
    for term in terms(loss):
        found = attachment(term)
        if found.uncertain:
            continue
        if found.is_cut:
            ends = [] if found.attached else rounded(term)
        else:
            ends = _flat(term) if found.attached else list(_steps(term))
        if ends:
            yield term, ends


def rounded(term: Value) -> list[Op]:
    """Roundings that end a way to trainable parameters: what is held still on another way, as a target is, has no part
    in that."""
    return [one for one in _steps(term) if one.name in FLAT]


def _steps(term: Value) -> Iterator[Op]:
    """Operations such as `argmax`, or the indices of `max`, between a number and trainable parameters."""

    def ends(op: Op) -> bool:
        return has_attached_input(op) or (op.name in NO_GRADIENT and op.name not in STEPS)

    for one in made_of(term, ends):
        if isinstance(one, Op) and (one.name in STEPS or is_index(one)) and has_attached_input(one):
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
    """Whether a number is made of a comparison of what a model gives with what is right, as the share of right answers is:
    what is compared with each class in turn is a mask."""
    return any(
        isinstance(one, Op)
        and one.name in ("==", "!=", "eq", "ne")
        and any(_steps(one))
        and not any(map(_is_number, one.inputs))
        for one in made_of(value, has_attached_input)
    )


def _is_number(value: Value) -> bool:
    """Whether a value is a number of the program, or one that a loop counts."""
    match value:
        case Constant():
            return True
        case Op(name="iterate", inputs=(Op(name="range"), *_)):
            return True
    return False
