"""Weights of a softmax that a mask of zeros and ones takes out afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch

from trainlint.facts.model.elements import number_of
from trainlint.facts.model.values import Op
from trainlint.facts.seen.tensors import WEIGHT_LOST
from trainlint.trace.measure import numbers

if TYPE_CHECKING:
    from trainlint.trace.watch.recorder import Recorder

_KEEPS = frozenset(("dropout", "to", "type_as", "float"))
"""What a softmax's result may go through before it meets the mask, and keep its axes."""
_MOST_KEPT = 4


def note_weight_lost(recorder: Recorder, op: Op, args: Sequence[Any]) -> None:
    """A product was computed: where one factor is a mask, and the other came of a softmax, measure what the mask takes."""
    if len(args) != 2 or op.seen is None:
        return
    for weights, mask, value in zip(args, args[::-1], op.inputs, strict=False):
        softmax = _softmax(value)
        if softmax is not None and isinstance(weights, torch.Tensor) and isinstance(mask, torch.Tensor):
            axis = number_of(softmax.option(1, "dim"))
            with recorder.aside():
                lost = _lost(weights, mask, axis if isinstance(axis, int) else -1)
            if lost is not None:
                op.seen.numbers[WEIGHT_LOST] = lost


def _softmax(value: Any) -> Op | None:
    for _ in range(_MOST_KEPT):
        if not isinstance(value, Op) or value.name == "softmax":
            return value if isinstance(value, Op) else None
        if value.name not in _KEEPS or not value.inputs:
            return None
        value = value.inputs[0]
    return None


def _lost(weights: torch.Tensor, mask: torch.Tensor, axis: int) -> float | None:
    """The largest weight that a row loses while others of its keys stay; None where the factor is no such mask."""
    shares, kept = numbers.plain(weights), numbers.plain(mask)
    if shares is None or kept is None or mask.requires_grad or not kept.numel() or kept.dim() > shares.dim():
        return None
    if not bool(((kept == 0) | (kept == 1)).all()):
        return None
    stays = (kept == 1).expand(shares.shape) if _fits(kept, shares) else None
    if stays is None:
        return None
    lost = (shares * ~stays).sum(dim=axis)[stays.any(dim=axis)]
    return float(lost.max()) if lost.numel() else None


def _fits(mask: torch.Tensor, weights: torch.Tensor) -> bool:
    sizes = zip(mask.shape[::-1], weights.shape[::-1], strict=False)
    return all(one in (1, whole) for one, whole in sizes)
