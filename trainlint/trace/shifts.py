"""Whether the targets of a loss are a model's own inputs, one step on. Looks at tensors, keeps none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from trainlint.trace.again import arguments, had_again

if TYPE_CHECKING:
    from trainlint.trace.recorder import Recorder

_MOST_TRIES = 12
_ENOUGH = 8
"""Positions that have to agree."""


class Shift(NamedTuple):
    """An input that a model is trained to continue.

    Args:
        name: position or keyword of the input.
        axis: along which it is shifted.
        first: the first position that counts in the loss, over all samples.
    """

    name: str
    axis: int
    first: int


class Shifts:
    """The shifts that were found, by `id` of the model."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._tries = 0
        self.found: dict[int, Shift] = {}

    def loss_computed(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        """A loss compares with this target."""
        target = kwargs.get("target", args[1] if len(args) > 1 else None)
        if self._tries >= _MOST_TRIES or not isinstance(target, torch.Tensor) or target.numel() < _ENOUGH:
            return
        ignored = kwargs.get("ignore_index", -100)
        inputs = self._recorder.modules.inputs
        for model, given in inputs.items():
            if model in self.found:
                continue
            for name, value in arguments(*given):
                tensor = had_again(value)
                if (
                    isinstance(tensor, torch.Tensor)
                    and tensor is not target
                    and self._is_worth_it(tensor, target)
                ):
                    with self._recorder.aside():
                        shift = _shift(name, tensor, target, ignored)
                    if shift is not None:
                        self.found[model] = shift
                        break

    def _is_worth_it(self, tensor: torch.Tensor, target: torch.Tensor) -> bool:
        if tensor.dim() < 2 or min(tensor.shape[:2]) < 1 or tensor.device != target.device:
            return False
        if tensor.is_floating_point() != target.is_floating_point() or tensor.is_complex():
            return False
        alike = _laid_out(tensor, target, 0) is not None or _laid_out(tensor, target, 1) is not None
        self._tries += alike
        return alike


def _shift(name: str, tensor: torch.Tensor, target: torch.Tensor, ignored: Any) -> Shift | None:
    for axis in (1, 0):
        laid_out = _laid_out(tensor, target, axis)
        if laid_out is None:
            continue
        steps = min(laid_out.shape[axis], tensor.shape[axis] - 1)
        wanted, now = laid_out.narrow(axis, 0, steps), tensor.narrow(axis, 0, steps)
        counts = wanted != ignored if isinstance(ignored, int) else torch.ones_like(wanted, dtype=torch.bool)
        differ = ((wanted != tensor.narrow(axis, 1, steps)) & counts).any()
        moves = ((wanted != now) & counts).sum()
        if not bool(differ) and int(moves) >= _ENOUGH:
            positions = counts.movedim(axis, 0).flatten(1).any(dim=1).nonzero()
            return Shift(name, axis, int(positions[0]))
    return None


def _laid_out(tensor: torch.Tensor, target: torch.Tensor, axis: int) -> torch.Tensor | None:
    """The target in the shape of an input, or of an input that is one step shorter."""
    for length in (tensor.shape[axis], tensor.shape[axis] - 1):
        shape = list(tensor.shape)
        shape[axis] = length
        if length >= 2 and target.numel() == torch.Size(shape).numel():
            return target.detach().reshape(shape)
    return None
