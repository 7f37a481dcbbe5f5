"""Masks that meet attention scores: their shape, what they take out, and whether a query keeps any key."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch

from trainlint.facts.step import MaskSeen
from trainlint.facts.values import Items, Op, Value

APPLIES = frozenset(("masked_fill", "where", "+"))
"""Operations that put a mask on scores."""

ATTENTION = frozenset(("scaled_dot_product_attention", "multi_head_attention_forward"))
"""Functions that take a mask."""

_MASKED = -1e4
"""A number below this, added to a score or put in its place, takes it out."""

_COMPARES = frozenset(("==", "!=", "<", ">", "<=", ">="))
_TRIANGLES = frozenset(("tril", "triu"))


def applied(
    name: str, args: Sequence[Any], kwargs: Mapping[str, Any], op: Op, batch: int | None
) -> MaskSeen | None:
    """The mask of an operation on scores; None where it is no such thing."""
    if name == "masked_fill":
        scores, mask, fill = (*args, *kwargs.values())[:3] if len(args) + len(kwargs) >= 3 else (None,) * 3
        return _seen(name, scores, mask, _number(fill), op.inputs[1:2], op, batch)
    if name == "where":
        return _where(args, op, batch) if len(args) == 3 else None
    if len(args) != 2 or not all(isinstance(one, torch.Tensor) for one in args):
        return None
    for position in (0, 1):
        mask, scores = args[position], args[1 - position]
        if mask.requires_grad or not scores.requires_grad or mask.dim() < 2 or mask.numel() < 4:
            continue
        if mask.is_floating_point() and float(torch.amin(mask)) <= _MASKED:
            taken = mask.detach() <= _MASKED
            fill = float(torch.amin(mask))
            return _seen("add", scores, taken, fill, op.inputs[position : position + 1], op, batch)
    return None


def _where(args: Sequence[Any], op: Op, batch: int | None) -> MaskSeen | None:
    condition, first, second = args
    if not isinstance(condition, torch.Tensor) or condition.dtype != torch.bool:
        return None
    low_first, low_second = _number(first), _number(second)
    if isinstance(first, torch.Tensor) and first.dim() >= 2 and low_second is not None:
        return _seen("where", first, ~condition, low_second, op.inputs[:1], op, batch)
    if isinstance(second, torch.Tensor) and second.dim() >= 2 and low_first is not None:
        return _seen("where", second, condition, low_first, op.inputs[:1], op, batch)
    return None


def of_attention(
    name: str, args: Sequence[Any], kwargs: Mapping[str, Any], op: Op, batch: int | None
) -> Iterator[MaskSeen]:
    """The masks that a function of torch's was given."""
    if op.at is None:
        return
    if name == "scaled_dot_product_attention":
        mask = kwargs.get("attn_mask", args[3] if len(args) > 3 else None)
        query, key = args[0] if args else kwargs["query"], args[1] if len(args) > 1 else kwargs["key"]
        if isinstance(mask, torch.Tensor):
            scores = (*query.shape[:-1], key.shape[-2])
            taken = ~mask if mask.dtype == torch.bool else mask <= _MASKED
            found = _measured("sdpa", scores, mask, taken, None, (), op, batch)
            if found is not None:
                yield replace(found, before_softmax=True)
        return
    query, key = args[0], args[1]
    if query.dim() != 3:
        return
    padding, mask = kwargs.get("key_padding_mask"), kwargs.get("attn_mask")
    scores = (query.shape[1], query.shape[0], key.shape[0])
    together: torch.Tensor | None = None
    for way, given in (("key_padding", padding), ("attention", mask)):
        if not isinstance(given, torch.Tensor):
            continue
        taken = given if given.dtype == torch.bool else given <= _MASKED
        if way == "key_padding":
            taken = taken[:, None, :]
        elif taken.dim() == 3:
            taken = taken[:: max(1, taken.shape[0] // scores[0])]
        together = taken if together is None else together | taken
        found = _measured(way, scores, given, together, None, (), op, batch)
        if found is not None:
            yield replace(found, before_softmax=True, is_padding=way == "key_padding")


def before_softmax(mask: MaskSeen) -> MaskSeen:
    return replace(mask, before_softmax=True)


def _seen(
    way: str,
    scores: Any,
    mask: Any,
    fill: float | None,
    history: tuple[Value, ...],
    op: Op,
    batch: int | None,
) -> MaskSeen | None:
    if not isinstance(scores, torch.Tensor) or not isinstance(mask, torch.Tensor) or scores.dim() < 2:
        return None
    if mask.dtype != torch.bool or not scores.is_floating_point():
        return None
    return _measured(way, tuple(scores.shape), mask, mask, fill, history, op, batch)


def _measured(
    way: str,
    scores: tuple[int, ...],
    mask: torch.Tensor,
    taken: torch.Tensor,
    fill: float | None,
    history: tuple[Value, ...],
    op: Op,
    batch: int | None,
) -> MaskSeen | None:
    if op.at is None or taken.numel() == 0 or taken.dim() > len(scores):
        return None
    rows = math.prod(scores[:-1])
    each = rows / max(1, math.prod(taken.shape[:-1]))
    empty = float(taken.all(dim=-1).sum()) * each if taken.dim() else float(taken) * rows
    return MaskSeen(
        at=op.at,
        way=way,
        shape=tuple(mask.shape),
        dtype=str(mask.dtype).removeprefix("torch."),
        scores=scores,
        masked=float(taken.double().mean()),
        empty_rows=round(empty),
        rows=rows,
        axes=tuple(range(len(scores) - taken.dim(), len(scores))),
        batch=batch,
        is_padding=_is_padding(history),
        fill=fill,
    )


def _is_padding(history: tuple[Value, ...]) -> bool:
    """Whether a mask was made by comparing whole numbers, such as tokens with the padding, and by no triangle."""
    compares = False
    pending: list[tuple[Value, int]] = [(one, 0) for one in history]
    while pending:
        value, depth = pending.pop()
        if isinstance(value, Items):
            pending.extend((one, depth + 1) for one in value.items)
        if not isinstance(value, Op) or depth > 8:
            continue
        if value.name in _TRIANGLES:
            return False
        if value.name in _COMPARES:
            compares = compares or any(_is_whole(one) for one in value.inputs)
            continue
        pending.extend((one, depth + 1) for one in value.inputs)
    return compares


def _is_whole(value: Value) -> bool:
    return (
        isinstance(value, Op)
        and value.seen is not None
        and value.seen.dtype.startswith(("int", "uint"))
        and len(value.seen.shape) >= 2
    )


def _number(value: Any) -> float | None:
    if isinstance(value, torch.Tensor):
        return float(value) if value.numel() == 1 else None
    return float(value) if isinstance(value, (int, float)) else None
