"""What is known of optimizers and of the parameters that they hold."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator
from typing import Any

import torch

from trainlint.facts.api.classes import PARAMETER
from trainlint.facts.model.values import Object, Op
from trainlint.facts.seen.gradients import Gradient
from trainlint.facts.seen.tensors import Spread
from trainlint.finding import Place
from trainlint.trace.measure import numbers

_DEEPEST = 4
"""Optimizers around another one that are looked through."""


class Parameter:
    """What is known of one parameter over the recorded steps."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor = weakref.ref(tensor)
        self.start: Spread | None = None
        self.gradient: Gradient | None = None
        self.judged = False
        self.reached = False
        self.alive = False
        self.stepped = False
        self.update: float | None = None
        self.unchanged: bool | None = None
        self.rate: float | None = None
        self.lost: float | None = None
        self.moving = 0
        self.broken = 0


class Optimizer:
    """What is known of one optimizer.

    Args:
        before: steps that it took before the recording.
        began: what it kept beside its state before its first step, if the program itself says how it steps.
        names: what the program calls the parameters, by identity, as far as that is seen where the optimizer is made.
        cleared: whether the gradients of its last step were cleared before the next; None until that is known.
        left: for gradients that were not: how many there were, of how many, and their norm.
        remains: the same two of the latest step for which they are known.
    """

    def __init__(self, optimizer: torch.optim.Optimizer, made: Object, number: int, before: int = 0) -> None:
        self.before = before
        self.steps = 0
        self.optimizer = weakref.ref(optimizer)
        self.names: dict[int, str] = {}
        self.began: dict[str, Any] = {}
        self.object = made
        self.number = number
        self.skipped = 0
        self.begin_again()

    def begin_again(self) -> None:
        """What it has done so far is not recorded."""
        self.before += self.steps
        self.steps = 0
        self.step_at: Place | None = None
        self.idle = 0
        self.cleared: bool | None = None
        self.left: dict[str, float | str] = {}
        self.remains: tuple[bool, dict[str, float | str]] | None = None
        self.checksums: dict[int, float] = {}
        self.seen_between = False


def parameters_of(optimizer: torch.optim.Optimizer) -> Iterator[torch.Tensor]:
    """Every parameter of every group."""
    for group in optimizer.param_groups:
        yield from group["params"]


def checksums(parameters: Iterable[torch.Tensor]) -> dict[int, float]:
    """A number for the gradient of each parameter that has one, by identity."""
    held = [one for one in parameters if one.grad is not None]
    found = numbers.checksums([one.grad for one in held if one.grad is not None])
    return dict(zip(map(id, held), found, strict=True))


def innermost(optimizer: torch.optim.Optimizer) -> torch.optim.Optimizer:
    """The optimizer that does the work, where others stand around it and share what it holds."""
    for _ in range(_DEEPEST):
        inside = (one for one in vars(optimizer).values() if isinstance(one, torch.optim.Optimizer))
        inner = next((one for one in inside if one is not optimizer and _share(optimizer, one)), None)
        if inner is None:
            break
        optimizer = inner
    return optimizer


def _share(outer: torch.optim.Optimizer, inner: torch.optim.Optimizer) -> bool:
    groups = getattr(outer, "param_groups", None)
    if not isinstance(groups, list) or groups is inner.param_groups:
        return groups is inner.param_groups
    return {id(one) for group in groups for one in group["params"]} == set(map(id, parameters_of(inner)))


def number(value: Any) -> float:
    """A setting of a group, such as its learning rate; 0 for what is no number."""
    try:
        return float(value or 0.0)
    except (TypeError, ValueError):
        return 0.0


def parameter_behind(value: Op) -> Op | None:
    """The parameter that a value is, or whose `data` it is; through the updates that it has had."""
    for _ in range(30):
        if value.name == PARAMETER:
            return value
        inner = value.inputs[0] if value.inputs else None
        if not isinstance(inner, Op) or not (value.in_place or value.name in ("data", "detach", "getitem")):
            return None
        value = inner
    return None
