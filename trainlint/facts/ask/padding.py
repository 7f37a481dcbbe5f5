"""Padded positions, and what stands there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from trainlint.facts.ask.flow import is_made_of
from trainlint.facts.ask.sequences import Batches, drawn_from, index_of, is_slice
from trainlint.facts.model.values import Choice, Constant, Items, Op, Unknown, Value, alternatives, constant

_STAY_PADDED = frozenset(
    "view reshape flatten contiguous to long int type cuda cpu clone detach data identity squeeze unsqueeze ravel "
    "as_tensor tensor LongTensor from_numpy astype Variable t T transpose permute copy".split()
)
_MOST_STEPS = 60
_NAMES = ("tokenizer", "tokeniser", "tok")
_IDS = ("input_ids", "ids")
_PADDING_TOKEN = re.compile(r"\W*_*(?:pad|padding)_*\W*", re.IGNORECASE)
_CALLED = re.compile(r"\btokenizer\(…\)$|\btokenizer\.(batch_)?encode_plus\(…\)$")


class Padded(NamedTuple):
    """The operation that pads sequences to one length, and the value that it puts there; None where that is unknown."""

    by: Op
    value: Value | None


def padded(value: Value | None, known: Batches) -> Padded | None:
    """How the sequences in a tensor were brought to one length, where padding is certain: on one of several ways that a setting
    chooses from."""
    pending = [value]
    seen: set[int] = set()
    while pending and len(seen) < _MOST_STEPS:
        found = _followed(pending.pop(0), known)
        if not isinstance(found, Choice):
            if found is not None:
                return found
        elif found.uid not in seen:
            seen.add(found.uid)
            pending += _apart(found)
    return None


def _followed(value: Value | None, known: Batches) -> Padded | Choice | None:
    """How a tensor was padded, or the several tensors that one is of which nothing decides here."""
    for _ in range(_MOST_STEPS):
        if isinstance(value, Choice):
            value = _of_short_ones(value)
        if isinstance(value, Choice):
            return value
        if isinstance(value, Op) and (by_hand := _padded_by_hand(value)) is not None:
            return by_hand
        if not isinstance(value, Op) or value.written:
            return None
        if value.name.rpartition(".")[2] == "pad_sequence":
            return Padded(value, value.option(2, "padding_value") or Constant(value=0))
        if value.name.rpartition(".")[2] == "pad_sequences":
            return Padded(value, value.options.get("value") or Constant(value=0))
        drawn = drawn_from(value, known)
        if drawn is not None or (drawn := _before_split(value)) is not None:
            value = drawn
        elif _is_of_tokenizer(value):
            call = _unmoved(value.inputs[0])
            return Padded(call, None) if isinstance(call, Op) and _pads(call) else None
        elif value.inputs and (
            value.name in _STAY_PADDED or _is_copy(value) or (value.name == "getitem" and is_slice(value))
        ):
            value = value.inputs[0]
        else:
            return None
    return None


def _apart(choice: Choice) -> Iterator[Value]:
    """Each of several tensors, but for what another one is made of: there a condition may leave the padding out."""
    ways = list(alternatives(choice))
    for one in ways:
        whole = _unturned(one)
        if not any(other is not one and is_made_of(other, whole) for other in ways):
            yield one


def _unturned(value: Value) -> Value:
    """What a tensor was before it was moved, or given another shape."""
    while isinstance(value, Op) and value.name in _STAY_PADDED and value.inputs:
        value = value.inputs[0]
    return value


def _before_split(op: Op) -> Value | None:
    """What a part of `train_test_split(a, b)` has some rows of."""
    split = op.inputs[0] if op.name == "getitem" and op.inputs else None
    if not isinstance(split, Op) or split.name != "sklearn.model_selection.train_test_split":
        return None
    number = constant(index_of(op))
    is_known = isinstance(number, int) and 0 <= number < 2 * len(split.inputs)
    return split.inputs[number // 2] if is_known and isinstance(number, int) else None


def _is_copy(op: Op) -> bool:
    return op.name == "call" and op.text.endswith(".copy(…)")


def _padded_by_hand(op: Op) -> Padded | None:
    """`torch.full(shape, pad_id)` into which sequences are written, `torch.zeros(shape)` into whose rows as much is written as each
    has, `torch.tensor([ids + [pad_id] * n for ids in batch])`, or `F.pad(ids, (0, n))`."""
    if op.name in ("zeros", "numpy.zeros"):
        return Padded(op, Constant(value=0)) if op.written and all(map(_fills_begin, op.written)) else None
    if op.name in ("full", "numpy.full", "full_like"):
        fill = op.option(1, "fill_value")
        is_filled = any(one.name == "setitem" for one in op.written)
        return Padded(op, fill) if is_filled and is_padding_id(fill) else None
    if op.name == "pad":
        return Padded(op, op.option(3, "value") or Constant(value=0)) if _fills_up(op) else None
    rows = op.inputs[0] if op.name in ("tensor", "LongTensor", "as_tensor", "stack") and op.inputs else None
    if op.written or not isinstance(rows, Items) or rows.exact or len(rows.items) != 1:
        return None
    row = rows.items[0]
    if isinstance(row, Op) and row.name == "tensor" and row.inputs:
        row = row.inputs[0]
    end = row.inputs[1] if isinstance(row, Op) and row.name == "+" and len(row.inputs) > 1 else None
    if not isinstance(end, Items) or end.exact or len(end.items) != 1:
        return None
    is_number = isinstance(
        constant(end.items[0]), int
    )  # as often as a row is too short, which nobody knows ahead
    return Padded(op, end.items[0]) if is_number or is_padding_id(end.items[0]) else None


def _fills_begin(write: Op) -> bool:
    """Whether a sequence is written to the beginning of a longer row: `rows[i, : len(ids)] = ids`."""
    if write.name != "setitem" or len(write.inputs) < 3:
        return False
    _, index, written = write.inputs[:3]
    axis = index.items[-1] if isinstance(index, Items) and index.items else index
    match axis:
        case Op(name="[:]", inputs=(_, Op(name="builtins.len", inputs=(counted,)), *_)):
            return any(one is counted for one in (written, _before_tensor(written)))
    return False


def _before_tensor(value: Value) -> Value | None:
    """The list of which a tensor is made."""
    is_made = isinstance(value, Op) and value.name in ("tensor", "LongTensor", "as_tensor") and value.inputs
    return value.inputs[0] if is_made and isinstance(value, Op) else None


def _fills_up(pad: Op) -> bool:
    """Whether `F.pad` brings one axis to a length, at one end: `F.pad(x, (0, length - len(x)))`."""
    widths = pad.option(1, "pad")
    if not isinstance(widths, Items) or not widths.exact or len(widths.items) != 2:
        return False
    added = [one for one in widths.items if constant(one) != 0]
    return (
        constant(pad.option(2, "mode")) in (None, "constant")
        and len(added) == 1
        and isinstance(added[0], Op)
        and added[0].name == "-"
    )


def _of_short_ones(choice: Choice) -> Value:
    """How short sequences are padded, where longer ones stay as they are, or are cut: `if missing > 0: x = F.pad(x, …)`."""
    found = list(alternatives(choice))
    for one in found:
        if isinstance(one, Op) and one.name == "pad" and one.inputs:
            whole = one.inputs[0]
            others = [_cut_of(other) for other in found if other is not one]
            if others and all(other is whole for other in others):
                return one
    return choice


def _cut_of(value: Value) -> Value:
    is_cut = isinstance(value, Op) and value.name == "getitem" and is_slice(value)
    return value.inputs[0] if is_cut and isinstance(value, Op) else value


def _is_of_tokenizer(op: Op) -> bool:
    """`tokenizer(texts)["input_ids"]`, or `.input_ids` of it."""
    key = index_of(op) if op.name == "getitem" else op.options.get("name")
    if op.name not in ("getitem", "getattr") or constant(key) not in _IDS:
        return False
    call = _unmoved(op.inputs[0]) if op.inputs else None
    return (
        isinstance(call, Op)
        and call.name == "call"
        and (
            _CALLED.search(call.text) is not None
            or _is_called_tokenizer(call.inputs[0] if call.inputs else None)
        )
    )


def _unmoved(value: Value) -> Value:
    """What a tokenizer gave, before it was put on a device."""
    while isinstance(value, Op) and value.name in ("to", "cuda") and value.inputs:
        value = value.inputs[0]
    return value


def _is_tokenizer(value: Value | None) -> bool:
    return any(
        isinstance(one, Op) and one.name.startswith("transformers.") and "Tokenizer" in one.name
        for one in alternatives(value)
    )


def _is_called_tokenizer(value: Value | None) -> bool:
    """Whether a value is a tokenizer, by what made it, its name or its declared type."""
    found = list(alternatives(value))
    return bool(found) and all(_is_tokenizer(one) or _is_named_tokenizer(one) for one in found)


def _is_named_tokenizer(value: Value) -> bool:
    if isinstance(value, Unknown):
        return "Tokenizer" in value.annotation or value.text.rpartition(".")[2] in _NAMES
    return isinstance(value, Op) and value.name == "getattr" and constant(value.options.get("name")) in _NAMES


def _pads(call: Op) -> bool:
    """Whether a tokenizer certainly brings several texts to one length."""
    wanted = constant(call.options.get("padding"))
    texts = (
        call.inputs[1] if len(call.inputs) > 1 else call.options.get("text", call.options.get("text_target"))
    )
    if wanted == "max_length":
        return True
    is_one = isinstance(texts, Constant) or (
        isinstance(texts, Items) and texts.exact and len(texts.items) < 2
    )
    return wanted in (True, "longest") and not is_one


def is_padding_id(value: Value | None) -> bool:
    """Whether a value is, by its name, the number of a padding token."""
    match value:
        case Op(name="getattr"):
            name = constant(value.options.get("name"))
        case Op(name="getitem"):
            name = constant(index_of(value))
        case Op(name="call" | "index" | "get", inputs=inputs):
            return any(_is_padding_token(constant(one)) for one in inputs)
        case _:
            return False
    return isinstance(name, str) and "pad" in name.lower()


def _is_padding_token(token: object) -> bool:
    """Whether a text is the padding token itself, whose number a vocabulary gives: `vocab.token_to_id("[PAD]")`."""
    return isinstance(token, str) and _PADDING_TOKEN.fullmatch(token) is not None
