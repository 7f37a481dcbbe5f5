"""Calls with other tokens, and the positions of their outputs."""

from __future__ import annotations

from typing import Any

import torch

from trainlint.trace.measure.again import arguments
from trainlint.trace.measure.copies import Keep


def as_called(
    args: tuple[Any, ...], kwargs: dict[str, Any], _: str
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return args, kwargs


def without_targets(
    args: tuple[Any, ...], kwargs: dict[str, Any], name: str
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The call without arguments that look like targets: whole numbers in the shape of the tokens, or a step shorter."""
    tokens = dict(arguments(args, kwargs))[name]

    def is_target(key: str, value: Any) -> bool:
        return key != name and isinstance(value, torch.Tensor) and value.shape[:2] == tokens.shape[:2]

    kept = list(args)
    while kept and is_target(str(len(kept) - 1), kept[-1]):
        kept.pop()
    return tuple(kept), {key: value for key, value in kwargs.items() if not is_target(key, value)}


def replaced(
    args: tuple[Any, ...], kwargs: dict[str, Any], name: str, value: torch.Tensor
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """A call with another value for one argument."""
    if name in kwargs:
        return args, {**kwargs, name: value}
    return tuple(value if str(position) == name else one for position, one in enumerate(args)), kwargs


def other_values(tokens: torch.Tensor, axis: int, start: int) -> torch.Tensor | None:
    """The same tokens with other ones of the same batch from a position on."""
    changed = tokens.clone()
    later = changed.narrow(axis, start, tokens.shape[axis] - start)
    if tokens.is_floating_point():
        replacement = later.flip(0, max(axis, 1))
    else:
        known, places = torch.unique(tokens, return_inverse=True)
        replacement = known[(places + 1) % known.numel()].narrow(axis, start, later.shape[axis])
    if torch.equal(replacement, later):
        return None
    later.copy_(replacement)
    return changed


def positions(shape: tuple[int, ...], axis: int, part: slice) -> Keep:
    """Some positions of a tensor that is laid out like the tokens, or like them made flat, or has its classes or channels
    between samples and positions, as losses and convolutions want it."""

    def take(tensor: torch.Tensor) -> torch.Tensor | None:
        if tensor.dim() >= 2 and tuple(tensor.shape[:2]) == shape:
            laid_out = tensor
        elif tensor.dim() == 2 and tensor.shape[0] == shape[0] * shape[1]:
            laid_out = tensor.reshape(*shape, -1)
        elif tensor.dim() == 3 and (tensor.shape[0], tensor.shape[2]) == shape:
            laid_out = tensor.transpose(1, 2)
        else:
            return None
        return laid_out[:, part] if axis == 1 else laid_out[part]

    return take
