"""Which targets of a loss are padding, where the program itself says so. Looks at tensors, keeps none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import torch

from trainlint.facts.seen.targets import Padding
from trainlint.finding import Place


class Targets(NamedTuple):
    """Targets that are the next token, beside the tokens that a model was given.

    Args:
        tokens: what the model was given.
        wanted: the targets, in the shape of the tokens but for the last position.
        counts: which of them count in the loss.
        axis: along which they are shifted.
        ignored: the value that the loss ignores.
        classes: how many classes the loss tells apart.
    """

    tokens: torch.Tensor
    wanted: torch.Tensor
    counts: torch.Tensor
    axis: int
    ignored: int
    classes: int


def padding_of(
    targets: Targets, model: torch.nn.Module, kwargs: Mapping[str, Any], at: Place
) -> Padding | None:
    """The padding among the targets; None where nothing says what is padding, or there is none."""
    length = targets.wanted.shape[targets.axis]
    now = targets.tokens.narrow(targets.axis, 0, length)
    then = targets.tokens.narrow(targets.axis, 1, length)
    mask = kwargs.get("attention_mask")
    if isinstance(mask, torch.Tensor) and mask.shape == targets.tokens.shape:
        empty = mask.narrow(targets.axis, 1, length) == 0
        here = torch.unique(then[empty])
        if here.numel() != 1:
            return None
        return _padding(targets, at, "attention_mask", int(here), empty, (then == here) & ~empty)
    token = _padding_index(model, targets.classes)
    if token is None:
        return None
    empty = (now == token) & (then == token)
    return _padding(targets, at, "padding_idx", token, empty, torch.zeros_like(empty))


def _padding_index(model: torch.nn.Module, classes: int) -> int | None:
    """The padding of an embedding over as many tokens as the loss tells apart."""
    for module in model.modules():
        if isinstance(module, torch.nn.Embedding) and module.num_embeddings == classes:
            return module.padding_idx
    return None


def _padding(
    targets: Targets, at: Place, by: str, token: int, empty: torch.Tensor, ends: torch.Tensor
) -> Padding | None:
    if not bool(empty.any()):
        return None
    counts = targets.counts
    return Padding(
        at,
        by,
        token,
        int(empty.sum()),
        int((empty & counts).sum()),
        int(counts.sum()),
        targets.ignored,
        int(ends.sum()),
        int((ends & counts).sum()),
    )
