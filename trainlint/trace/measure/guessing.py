"""What a loss comes to for a prediction that does not look at the input."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from trainlint.trace.measure import numbers

_MOST = 2**20
"""Elements of a target that are looked at."""

_BINARY = ("binary_cross_entropy", "binary_cross_entropy_with_logits")
_LEAST = 0.3
"""A loss of the best constant below which all targets are nearly alike."""
_SQUARED, _ABSOLUTE = ("mse_loss",), ("l1_loss",)


def guessing(function: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[float, str] | None:
    """The loss of guessing, and what is guessed; None where that is not known.

    Raises nothing: a loss with weights, or another reduction than the mean, has no such number.
    """
    prediction = kwargs.get("input", args[0] if args else None)
    target = kwargs.get("target", args[1] if len(args) > 1 else None)
    if not isinstance(prediction, torch.Tensor) or not isinstance(target, torch.Tensor):
        return None
    if kwargs.get("reduction", "mean") != "mean" or kwargs.get("weight") is not None or len(args) > 2:
        return None
    if function in ("cross_entropy", "nll_loss") and prediction.dim() > 0:
        classes = prediction.shape[1 if prediction.dim() > 1 else 0]
        return (math.log(classes), f"log of {classes} classes") if classes > 1 else None
    values = numbers.plain(target)
    if values is None or not 1 < values.numel() <= _MOST or target.shape != prediction.shape:
        return None
    columns = values.float().reshape(values.shape[0], -1)
    if columns.shape[0] < 2 or kwargs.get("pos_weight") is not None:
        return None
    if function in _SQUARED:
        return float(columns.var(dim=0, unbiased=False).mean()), "the mean target"
    if function in _ABSOLUTE:
        return float((columns - columns.median(dim=0).values).abs().mean()), "the median target"
    if function in _BINARY and bool(((columns >= 0) & (columns <= 1)).all()):
        share = columns.mean(dim=0).clamp(1e-7, 1 - 1e-7)
        entropy = -(share * share.log() + (1 - share) * (1 - share).log())
        return float(entropy.mean()), "the mean target"
    return None


def best_constant(
    function: str, target: torch.Tensor, rest: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[float, int] | None:
    """The loss of the constant that fits these targets best, and how many targets there are; None where that is not known."""
    if function == "cross_entropy":
        weighs = kwargs.get("weight") is not None or kwargs.get("label_smoothing") or any(rest)
        if weighs or kwargs.get("reduction", "mean") != "mean" or target.is_floating_point():
            return None
        kept = target[target != kwargs.get("ignore_index", -100)]
        counts = torch.unique(kept, return_counts=True)[1].double()
        shares = counts / counts.sum()
        found = float(-(shares * shares.log()).sum())
        return (found, kept.numel()) if kept.numel() and found > _LEAST else None
    if function not in (*_SQUARED, *_ABSOLUTE, *_BINARY):
        return None
    guessed = guessing(function, (torch.zeros_like(target), target, *rest), kwargs)
    return (guessed[0], target.numel()) if guessed is not None and guessed[0] > 0 else None
