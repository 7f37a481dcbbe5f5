"""Optimizers of the program's own: what they keep beside their state, and copies of them."""

from __future__ import annotations

import copy
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

import torch

from trainlint.trace.watch.graph import tensors
from trainlint.trace.watch.optimizers import parameters_of

_PLAIN = (bool, int, float, str, type(None))
_MOST_ELEMENTS = 5_000_000
_STATE = ("defaults", "state", "param_groups")
_OF_TORCH = ("step", "zero_grad_profile_name")
"""What torch and its schedulers put into an optimizer: a `step` that is bound to the original."""


def beside_state(optimizer: torch.optim.Optimizer) -> dict[str, Any]:
    """Copies of the numbers and tensors that it keeps as attributes, none where they are too many."""
    held = {
        name: value
        for name, value in vars(optimizer).items()
        if name not in _STATE and not name.startswith("_") and name not in _OF_TORCH and _is_plain(value)
    }
    size = sum(one.numel() for value in held.values() for one in tensors(value))
    parameters = set(map(id, parameters_of(optimizer)))
    if size > _MOST_ELEMENTS:
        return {}
    return {
        name: copy.deepcopy(value)
        for name, value in held.items()
        if not any(id(one) in parameters for one in tensors(value))
    }


def copied(optimizer: torch.optim.Optimizer) -> torch.optim.Optimizer:
    """A copy with parameters and gradients of its own, and without hooks. Raises what copying raises."""
    made = object.__new__(type(optimizer))
    memo: dict[int, Any] = {}
    for name, value in vars(optimizer).items():
        if name in _OF_TORCH:
            continue
        is_hooks = name.startswith("_optimizer_") and isinstance(value, OrderedDict)
        made.__dict__[name] = OrderedDict() if is_hooks else copy.deepcopy(value, memo)
    for one, other in zip(parameters_of(made), parameters_of(optimizer), strict=True):
        one.grad = other.grad.detach().clone() if other.grad is not None else None
    return made


def differ(one: Mapping[str, Any], other: Mapping[str, Any]) -> set[str]:
    """The attributes that are not the same."""
    return {name for name in one if name in other and not _same(one[name], other[name])}


def _is_plain(value: Any, depth: int = 0) -> bool:
    if isinstance(value, (*_PLAIN, torch.Tensor)):
        return True
    if type(value) in (list, tuple) and depth < 2:
        return all(_is_plain(one, depth + 1) for one in value)
    return type(value) is dict and depth < 2 and all(_is_plain(one, depth + 1) for one in value.values())


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, torch.Tensor):
        return isinstance(other, torch.Tensor) and torch.equal(one, other)
    if type(one) in (list, tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    if type(one) is dict:
        return one.keys() == other.keys() and all(_same(value, other[name]) for name, value in one.items())
    return bool(one == other)
