"""Masks that meet attention scores: their shape, what they take out, and whether a query keeps any key."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from trainlint.facts.model.values import Op, Value
from trainlint.facts.seen.masks import MaskSeen, MasksMet
from trainlint.facts.seen.tensors import Shape
from trainlint.finding import Place
from trainlint.trace.measure import numbers
from trainlint.trace.measure.mask_picture import mask_picture
from trainlint.trace.watch import mask_history, polarity
from trainlint.trace.watch.real_lengths import RealLengths

if TYPE_CHECKING:
    from trainlint.trace.watch.recorder import Recorder

_ATTENTION = frozenset(("scaled_dot_product_attention", "multi_head_attention_forward"))
_APPLIES = frozenset(("masked_fill", "where", "+", "setitem"))
_MENDS = frozenset(("masked_fill", "where", "*", "cat", "nan_to_num", "setitem"))
"""What may put other weights in the place of those of a query without keys."""

_PASSES = frozenset(("dropout", "to", "type_as", "float", "getitem"))
"""What a softmax's result may go through before it is mended."""

_MADE_OF_QUERIES = frozenset(("@", "bmm", "baddbmm", "einsum", "linear", "softmax"))

_MASKED = -1e4
"""A number below this, added to a score or put in its place, takes it out."""

_STILL_MASKED = _MASKED / 2
"""Such a number with a score added to it."""

_MOST_PENDING = 64
_MOST_TRIES = 16
"""Operations at one place that are looked at before it is clear that no softmax follows."""


class Around(NamedTuple):
    """What is known where a mask is met: the size of the batch, and how long its rows are."""

    batch: int | None
    lengths: RealLengths


class Masks:
    """Follows masks from where they are applied to the softmax, and what is done with its result."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._pending: dict[int, MaskSeen] = {}
        self._tries: dict[Any, int] = {}
        self._times: dict[Place, int] = {}
        """How many masks were applied at each place where one was found."""
        self._lengths = RealLengths(recorder)
        self._met: dict[int, list[int]] = {}
        """For a softmax and what came of it: where in the recorder's facts its masks are."""

    def operation(
        self, name: str, op: Op, args: Sequence[Any], kwargs: Mapping[str, Any], result: torch.Tensor
    ) -> None:
        """A function of torch's gave a result. One without numbers, on the device `meta`, has no masks to see."""
        if numbers.plain(result) is None:
            return
        if name in ("softmax", "log_softmax"):
            self._softmax(op, args, kwargs, result)
        elif name in _ATTENTION:
            self._attention(name, op, args, kwargs, result)
        elif self._met and (name in _MENDS or name in _PASSES):
            self._after_softmax(name, op)
        elif name == "embedding":
            self._lengths.embedded(args, kwargs, op.at)
        if op.at in self._times and op.at is not None and (name in _APPLIES or name in _ATTENTION):
            self._times[op.at] += 1
        if name in _APPLIES and op.at is not None and self._recorder.wants(MaskSeen, op.at):
            tries = self._tries.get(op.at, 0)
            if tries < _MOST_TRIES:
                self._tries[op.at] = tries + 1
                found = _applied(name, args, kwargs, op, self._around())
                if found is not None:
                    self._wait(op, found)

    def seen(self) -> list[MasksMet]:
        return [MasksMet(at, times) for at, times in self._times.items()]

    def failed(self, name: str, args: Sequence[Any], kwargs: Mapping[str, Any], at: Place) -> None:
        """A function of torch's raised: a mask of its may not fit."""
        if name not in _APPLIES and name not in _ATTENTION:
            return
        for way, mask, wanted in _shapes(name, args, kwargs):
            if not _fits(way, tuple(mask.shape), wanted):
                found = MaskSeen(at, way, tuple(mask.shape), _dtype(mask), wanted, 0.0, 0, 0, (), fits=False)
                self._recorder.fact(found, at)

    def _around(self) -> Around:
        return Around(self._recorder.batch.size, self._lengths)

    def _wait(self, op: Op, mask: MaskSeen) -> None:
        self._pending[op.uid] = mask
        if len(self._pending) > _MOST_PENDING:
            del self._pending[next(iter(self._pending))]

    def _softmax(self, op: Op, args: Sequence[Any], kwargs: Mapping[str, Any], result: torch.Tensor) -> None:
        """Masks that were put on the scores on the way to this softmax were attention masks."""
        if not self._pending or not args or not isinstance(args[0], torch.Tensor):
            return
        found = [self._pending.pop(one.uid) for one in _way_back(op) if one.uid in self._pending]
        if not found:
            return
        dim = kwargs.get("dim", args[1] if len(args) > 1 else -1)
        scores = args[0].detach()
        over_keys = isinstance(dim, int) and scores.dim() > 0 and dim % scores.dim() == scores.dim() - 1
        is_nan = numbers.has_nan(result)
        for position, mask in enumerate(found):
            mask = replace(mask, before_softmax=True)
            if isinstance(dim, int) and (not over_keys or (position == 0 and is_nan)):
                empty = (scores <= _STILL_MASKED).all(dim=dim)
                mask = replace(mask, empty_rows=int(empty.sum()), rows=empty.numel())
            self._note(op, replace(mask, is_nan=is_nan and mask.empty_rows > 0))

    def _attention(
        self, name: str, op: Op, args: Sequence[Any], kwargs: Mapping[str, Any], result: torch.Tensor
    ) -> None:
        if op.at is None or not self._recorder.wants(MaskSeen, op.at):
            return
        masks = _of_sdpa if name == "scaled_dot_product_attention" else _of_multi_head
        for mask in masks(args, kwargs, op, self._around()):
            is_nan = mask.empty_rows > 0 and numbers.has_nan(result)
            self._note(op, replace(mask, before_softmax=True, is_nan=is_nan))

    def _note(self, op: Op, mask: MaskSeen) -> None:
        facts = self._recorder.facts
        before = len(facts)
        self._times.setdefault(mask.at, 1)
        self._recorder.fact(replace(mask, module=self._recorder.modules.path()), mask.at)
        if len(facts) > before and mask.empty_rows:
            self._met.setdefault(op.uid, []).append(before)

    def _after_softmax(self, name: str, op: Op) -> None:
        """Weights of a query without keys may be replaced, and then nothing is wrong with them."""
        for one in mask_history.direct(op):
            whole = one.inputs[0] if one.name == "getitem" and one.inputs else one
            places = self._met.get(one.uid) or self._met.get(whole.uid)
            if places is None:
                continue
            if name in _PASSES:
                self._met[op.uid] = places
                continue
            facts = self._recorder.facts
            for place in places:
                facts[place] = replace(facts[place], is_mended=True)


def _shapes(
    name: str, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Iterator[tuple[str, torch.Tensor, Shape]]:
    """The masks of an operation on scores, and the shape that each has to broadcast to."""
    if name == "masked_fill":
        mask = kwargs.get("mask", args[1] if len(args) > 1 else None)
        if isinstance(mask, torch.Tensor) and isinstance(args[0], torch.Tensor):
            yield name, mask, tuple(args[0].shape)
    elif name == "where":
        given = [one for one in (*args, *kwargs.values()) if isinstance(one, torch.Tensor)]
        condition = next((one for one in given if one.dtype == torch.bool), None)
        scores = next((one for one in given if one.is_floating_point() and one.dim() > 1), None)
        if condition is not None and scores is not None:
            yield name, condition, tuple(scores.shape)
    elif name == "+" and len(args) == 2:
        for mask, scores in (args, args[::-1]):
            if _is_additive(mask) and isinstance(scores, torch.Tensor) and not _is_additive(scores):
                yield "add", mask, tuple(scores.shape)
    elif name == "scaled_dot_product_attention":
        mask = kwargs.get("attn_mask", args[3] if len(args) > 3 else None)
        query, key = args[0] if args else kwargs["query"], args[1] if len(args) > 1 else kwargs["key"]
        if isinstance(mask, torch.Tensor):
            yield "sdpa", mask, (*query.shape[:-1], key.shape[-2])
    elif name == "multi_head_attention_forward" and args[0].dim() == 3:
        queries, batch, keys, heads = args[0].shape[0], args[0].shape[1], args[1].shape[0], args[4]
        padding, mask = kwargs.get("key_padding_mask"), kwargs.get("attn_mask")
        if isinstance(padding, torch.Tensor):
            yield "key_padding", padding, (batch, keys)
        if isinstance(mask, torch.Tensor):
            yield "attention", mask, (queries, keys) if mask.dim() < 3 else (batch * heads, queries, keys)


def _fits(way: str, mask: Shape, wanted: Shape) -> bool:
    if way in ("key_padding", "attention"):
        return mask == wanted
    try:
        torch.broadcast_shapes(mask, wanted)  # type: ignore[no-untyped-call]
    except RuntimeError:
        return False
    return True


def _way_back(op: Op) -> Iterator[Op]:
    """What a softmax's input was made of, up to the product of queries and keys, the latest first."""
    pending: list[tuple[Op, int]] = [(one, 0) for one in mask_history.direct(op)[:1]]
    seen: set[int] = set()
    while pending and len(seen) < 40:
        value, depth = pending.pop(0)
        if value.uid in seen:
            continue
        seen.add(value.uid)
        yield value
        if depth < 8 and value.name not in _MADE_OF_QUERIES:
            given = mask_history.direct(value)
            trained = [one for one in given if one.attached]
            pending.extend((one, depth + 1) for one in trained or given)


def _applied(
    name: str, args: Sequence[Any], kwargs: Mapping[str, Any], op: Op, around: Around
) -> MaskSeen | None:
    """The mask of an operation on scores; None where it is no such thing."""
    if name == "masked_fill":
        scores = args[0]
        mask = kwargs.get("mask", args[1] if len(args) > 1 else None)
        fill = _number(kwargs.get("value", args[-1]))
        return _seen(name, scores, mask, fill, op.option(1, "mask"), op, around)
    if name == "where":
        return _where(args, kwargs, op, around)
    if name == "setitem":
        fill = _number(args[2]) if len(args) == 3 else None
        same = len(args) == 3 and getattr(args[1], "shape", None) == args[0].shape
        return _seen(name, args[0], args[1], fill, op.option(1, "index"), op, around) if same else None
    if len(args) != 2:
        return None
    for position in (0, 1):
        mask, scores = args[position], args[1 - position]
        if _is_additive(mask) and isinstance(scores, torch.Tensor) and scores.dim() >= mask.dim():
            fill = float(torch.amin(mask))
            found = _seen("add", scores, mask.detach() <= _MASKED, fill, op.inputs[position], op, around)
            return replace(found, dtype=_dtype(mask)) if found is not None else None
    return None


def _is_additive(mask: Any) -> bool:
    return (
        isinstance(mask, torch.Tensor)
        and not mask.requires_grad
        and mask.is_floating_point()
        and mask.dim() >= 2
        and mask.numel() >= 4
        and numbers.plain(mask) is not None
        and float(torch.amin(mask)) <= _MASKED
    )


def _where(args: Sequence[Any], kwargs: Mapping[str, Any], op: Op, around: Around) -> MaskSeen | None:
    """`torch.where(condition, scores, fill)`, and `scores.where(condition, fill)`."""
    given = [*args, *kwargs.values()]
    history: list[Value] = [*op.inputs, *op.options.values()]
    if len(given) != 3:
        return None
    if isinstance(given[1], torch.Tensor) and given[1].dtype == torch.bool and _dtype(given[0]) != "bool":
        given[:2], history[:2] = given[1::-1], history[1::-1]
    condition, first, second = given
    if not isinstance(condition, torch.Tensor) or condition.dtype != torch.bool:
        return None
    low_first, low_second = _number(first), _number(second)
    if isinstance(first, torch.Tensor) and low_second is not None and first.dim() >= 2:
        return _seen("where", first, ~condition, low_second, history[0], op, around)
    if isinstance(second, torch.Tensor) and low_first is not None and second.dim() >= 2:
        return _seen("where", second, condition, low_first, history[0], op, around)
    return None


def _of_sdpa(args: Sequence[Any], kwargs: Mapping[str, Any], op: Op, around: Around) -> Iterator[MaskSeen]:
    mask = kwargs.get("attn_mask", args[3] if len(args) > 3 else None)
    query, key = args[0] if args else kwargs["query"], args[1] if len(args) > 1 else kwargs["key"]
    if not isinstance(mask, torch.Tensor):
        return
    taken = ~mask if mask.dtype == torch.bool else mask.detach() <= _MASKED
    scores = (*query.shape[:-1], key.shape[-2])
    found = _measured("sdpa", scores, mask, taken, None, op.option(3, "attn_mask"), op, around)
    if found is not None:
        yield found


def _of_multi_head(
    args: Sequence[Any], kwargs: Mapping[str, Any], op: Op, around: Around
) -> Iterator[MaskSeen]:
    """The two masks of `nn.MultiheadAttention`; the queries that they leave empty together belong to the later."""
    query, key = args[0], args[1]
    if query.dim() != 3:
        return
    scores = (query.shape[1], query.shape[0], key.shape[0])
    together: torch.Tensor | None = None
    for way, name in (("key_padding", "key_padding_mask"), ("attention", "attn_mask")):
        mask = kwargs.get(name)
        if not isinstance(mask, torch.Tensor):
            continue
        taken = mask if mask.dtype == torch.bool else mask.detach() <= _MASKED
        if way == "key_padding":
            taken = taken[:, None, :]
        elif taken.dim() == 3:
            taken = taken[:: max(1, taken.shape[0] // scores[0])]
        together = taken if together is None else together | taken
        found = _measured(way, scores, mask, taken, None, op.options.get(name), op, around)
        if found is None:
            continue
        if together is not taken:
            found = replace(found, empty_rows=_empty_rows(together, scores))
        yield replace(found, is_padding=found.is_padding or way == "key_padding")


def _seen(
    way: str, scores: Any, mask: Any, fill: float | None, history: Value | None, op: Op, around: Around
) -> MaskSeen | None:
    if not isinstance(scores, torch.Tensor) or not isinstance(mask, torch.Tensor) or scores.dim() < 2:
        return None
    if mask.dtype != torch.bool or not scores.is_floating_point():
        return None
    return _measured(way, tuple(scores.shape), mask, mask, fill, history, op, around)


def _measured(
    way: str,
    scores: Shape,
    mask: torch.Tensor,
    taken: torch.Tensor,
    fill: float | None,
    history: Value | None,
    op: Op,
    around: Around,
) -> MaskSeen | None:
    if op.at is None or taken.numel() == 0 or taken.dim() > len(scores):
        return None
    made = mask_history.of(history)
    return MaskSeen(
        at=op.at,
        way=way,
        shape=tuple(mask.shape),
        dtype=_dtype(mask),
        scores=scores,
        masked=float(taken.double().mean()),
        empty_rows=_empty_rows(taken, scores),
        rows=math.prod(scores[:-1]),
        axes=tuple(range(len(scores) - taken.dim(), len(scores))),
        batch=around.batch,
        is_padding=made.is_padding,
        by_position=made.by_position,
        fill=fill,
        leaves=polarity.left(mask.detach(), taken, scores, around.lengths),
        picture=mask_picture(taken),
    )


def _empty_rows(taken: torch.Tensor, scores: Shape) -> int:
    """How many queries a mask leaves without any key, after broadcasting."""
    rows = math.prod(scores[:-1])
    if not taken.dim():
        return rows if bool(taken) else 0
    each = rows / max(1, math.prod(taken.shape[:-1]))
    return round(float(taken.all(dim=-1).sum()) * each)


def _dtype(tensor: Any) -> str:
    return str(getattr(tensor, "dtype", "")).removeprefix("torch.")


def _number(value: Any) -> float | None:
    if isinstance(value, torch.Tensor):
        return float(value) if value.numel() == 1 else None
    return float(value) if isinstance(value, (int, float)) else None
