"""What a mask lets through, measured: what is real, or the padding; earlier positions, or later ones."""

from __future__ import annotations

import torch

from trainlint.facts.seen.tensors import Shape
from trainlint.trace.watch.real_lengths import RealLengths

_FEWEST_POSITIONS = 4
"""Positions of which it is clear which way round a mask of later ones is."""


def left(mask: torch.Tensor, taken: torch.Tensor, scores: Shape, lengths: RealLengths) -> str:
    """What a mask leaves, in the words of `MaskSeen.leaves`.

    Args:
        mask: as it is given.
        taken: True where it takes a key out, with as many axes as the scores have, or fewer.
        scores: shape of the scores, `(samples, …, queries, keys)`.
    """
    if mask.is_floating_point() and _is_of_ones_and_zeros(mask):
        ones = mask > 0
        ones = ones[:, None, :] if ones.dim() < taken.dim() else ones
        return "everything" if _left(ones, scores, lengths) else ""
    return _left(taken, scores, lengths)


def _left(taken: torch.Tensor, scores: Shape, lengths: RealLengths) -> str:
    if taken.dtype != torch.bool or taken.dim() < 2 or taken.shape[-1] != scores[-1]:
        return ""
    by_position = _left_by_position(taken)
    if by_position:
        return by_position
    if taken.dim() != len(scores) or taken.shape[0] != scores[0]:
        return ""
    seen = (~taken).flatten(1, -2).any(dim=1) if taken.dim() > 2 else ~taken
    for known in lengths.of(*seen.shape):
        real = known.mask(seen.device)
        if torch.equal(seen, real):
            return "real"
        if torch.equal(seen, ~real):
            return "padding"
    return ""


def _left_by_position(taken: torch.Tensor) -> str:
    """Whether each query sees nothing but later keys, which a causal mask is to hide, or all earlier ones and the next."""
    queries, keys = taken.shape[-2:]
    if queries != keys or keys < _FEWEST_POSITIONS:
        return ""
    everything = torch.ones(queries, keys, dtype=torch.bool, device=taken.device)
    first = taken[(0,) * (taken.dim() - 2)]
    for name, hidden in (("later", everything.tril()), ("next", everything.triu(2))):
        if torch.equal(first, hidden) and torch.equal(taken, hidden.expand_as(taken)):
            return name
    return ""


def _is_of_ones_and_zeros(mask: torch.Tensor) -> bool:
    is_one = mask == 1
    return bool(is_one.any()) and not bool(is_one.all()) and bool((is_one | (mask == 0)).all())
