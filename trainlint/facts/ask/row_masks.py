"""Masks of which each row is written on its own, as long as its sequence: `mask[i, :len(row)] = 1`."""

from __future__ import annotations

from collections.abc import Callable

from trainlint.facts.api.meanings import KEEPS
from trainlint.facts.ask.mask_parts import Mask, Part
from trainlint.facts.ask.new_axes import is_whole
from trainlint.facts.model.effort import spend
from trainlint.facts.model.elements import Element, number_of
from trainlint.facts.model.values import Constant, Items, Op, Value

_COUNTS = ("builtins.len", "size", "shape", "numel")


def rows_filled(whole: Mask | None, write: Op) -> Mask | None:
    """A tensor that is the same everywhere, after a number was written up to, or from, the length of each sequence.

    What is left, or written, beyond the length is padding. None for all other writes.
    """
    if whole is None or whole.parts or len(write.inputs) != 3:
        return None
    new, ends = _as(whole.kept, number_of(write.inputs[2])), _ends(write.inputs[1])
    if new is None or ends is None:
        return None
    kept: Element
    held: Element
    start, stop = ends
    is_begun, is_left = _is_length(start), _is_from_behind(start)
    if (_is_nothing(start) and _is_length(stop)) or (is_left and _is_nothing(stop)):
        kept, held = new, whole.kept
    elif is_begun and _is_nothing(stop):
        kept, held = whole.kept, new
    else:
        return None
    part = Part("padding", write.inputs[0].uid, held, is_named=True, at=write.at, text=write.text)
    return Mask(kept, (part,))


def of_padded_rows(op: Op, rows: Value | None, made: Callable[[Value], Mask | None]) -> Mask | None:
    """`pad_sequence` of rows that each hold one number: it fills up what is shorter."""
    given = op.option(2, "padding_value")
    fill = number_of(given) if given is not None else 0.0
    several = rows.items if isinstance(rows, Items) else []
    found = {made(one) for one in several}
    row = found.pop() if len(found) == 1 else None
    held = _as(row.kept, fill) if row is not None and not row.parts else None
    if row is None or held is None:
        return None
    return Mask(row.kept, (Part("padding", op.uid, held, is_named=True, at=op.at, text=op.text),))


def are_lengths(value: Value) -> bool:
    """Whether a tensor is made of how many elements each of several sequences has."""
    while isinstance(value, Op) and value.name in KEEPS and value.inputs:
        spend()
        value = value.inputs[0]
    items = value.items if isinstance(value, Items) else []
    return bool(items) and all(map(_is_count, items))


def _ends(index: Value) -> tuple[Value, Value] | None:
    """Where the slice along the last axis begins and ends, for one row: `:n`, or `i, :n`."""
    items = index.items if isinstance(index, Items) else [index]
    last = items[-1] if items else None
    if not isinstance(last, Op) or last.name != "[:]":
        return None
    if len(items) > 1 and is_whole(items[0]):
        return None
    return last.inputs[0], last.inputs[1]


def _is_length(value: Value) -> bool:
    """Whether a number is how many elements a sequence has, or at most so many: `len(row)`, `row.shape[0]`."""
    is_least = isinstance(value, Op) and value.name == "builtins.min"
    return any(map(_is_count, value.parts() if is_least else (value,)))


def _is_count(value: Value) -> bool:
    if isinstance(value, Op) and value.name == "getitem":
        value = value.inputs[0]
    return isinstance(value, Op) and value.name in _COUNTS


def _is_from_behind(start: Value) -> bool:
    """Whether a slice begins as far from the end as a sequence is long: `-len(row):`."""
    return (
        isinstance(start, Op) and start.name == "-" and len(start.inputs) == 1 and _is_length(start.inputs[0])
    )


def _as(like: Element, number: Element) -> Element:
    """A number as a tensor holds it that holds another one elsewhere."""
    if like is None or number is None:
        return None
    return bool(number) if isinstance(like, bool) else type(like)(number)


def _is_nothing(end: Value) -> bool:
    return isinstance(end, Constant) and end.value in (None, 0)
