"""What a loss was given and what it gave, in numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch

from trainlint.facts.model.values import Op, TensorSeen, Value
from trainlint.trace.measure import numbers
from trainlint.trace.watch.graph import seen

_OVER_CLASSES = frozenset(("cross_entropy", "nll_loss", "log_softmax", "kl_div"))
_CLOSE = 1e-3
"""How far from 1 a sum over classes may be to count as 1."""


def measured(
    function: str, args: Sequence[Any], kwargs: Mapping[str, Any], result: torch.Tensor
) -> TensorSeen:
    """The loss itself: its value where it is one number, its mean otherwise; and the shapes of what it compares."""
    look = seen(result)
    found: dict[str, float] = {}
    values = numbers.plain(result)
    if values is not None and values.numel():
        found["value"] = float(values if values.dim() == 0 else values.double().mean())
    given = [*args[:2], *(kwargs[key] for key in ("input", "target") if key in kwargs)]
    if len(given) > 1 and isinstance(given[0], torch.Tensor) and isinstance(given[1], torch.Tensor):
        prediction, target = given[0], given[1]
        if function in ("cross_entropy", "nll_loss") and prediction.dim() > 0:
            found["classes"] = float(prediction.shape[1 if prediction.dim() > 1 else 0])
            if not target.is_floating_point() and numbers.plain(target) is not None and target.numel():
                ignored = kwargs.get("ignore_index", -100)
                kept = target[target != ignored] if isinstance(ignored, int) else target
                found["ignored"] = 1.0 - kept.numel() / target.numel()
                found["distinct targets"] = float(torch.unique(kept).numel())
    return TensorSeen(look.shape, look.dtype, look.device, found)


def note_value(value: Value, loss: torch.Tensor) -> None:
    """Write down how large a loss is that gradients are about to be computed for."""
    values = numbers.plain(loss)
    if isinstance(value, Op) and values is not None and values.numel() == 1:
        look = value.seen or seen(loss)
        value.seen = replace(look, numbers={"value": float(values), **look.numbers})


def of_input(function: str, tensor: torch.Tensor) -> TensorSeen:
    """The prediction: its range, and how many of its rows sum to 1, as probabilities do."""
    look = seen(tensor)
    values = numbers.plain(tensor)
    found: dict[str, float] = {}
    if values is not None and values.is_floating_point() and values.numel():
        low, high = torch.aminmax(values)
        found["smallest"], found["largest"] = float(low), float(high)
        if function in _OVER_CLASSES and values.dim() > 0:
            axis = 1 if values.dim() > 1 and function != "log_softmax" else -1
            sums = values.sum(dim=axis, dtype=torch.float32)
            found["rows"] = float(sums.numel())
            found["rows that sum to 1"] = float(((sums - 1).abs() < _CLOSE).sum())
    return TensorSeen(look.shape, look.dtype, look.device, found)
