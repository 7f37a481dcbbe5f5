"""Does the output depend on the input?"""

from __future__ import annotations

from typing import Any

import torch

from trainlint.facts.seen.tried import Tried
from trainlint.trace.measure.again import changed, leaves
from trainlint.trace.measure.probes.step import Step
from trainlint.trace.measure.replay import Impossible, Replay
from trainlint.trace.watch.graph import tensors

NAME = "depends-on-input"
_NOTHING = 1e-6
"""A change of less than this, beside the size of the output, is none."""
_FEW_STEPS = 10
"""Steps after which a last layer that begins with zeros lets its input through."""


def depends_on_input(step: Step) -> Tried:
    called = step.model
    copy = Replay(step.taped, None)
    model, args, kwargs = copy.arguments_of(called)
    inputs = [one for one in leaves([args, kwargs]) if isinstance(one, torch.Tensor)]
    samples = inputs[0].shape[:1] if inputs else ()
    if _change(model, args, kwargs, samples) <= _NOTHING:
        adam = torch.optim.Adam(copy.parameters, lr=1e-3)
        for _ in range(_FEW_STEPS):
            copy.step(adam)
    share = _change(model, args, kwargs, samples)
    numbers = {"change of the output, beside its size": share}
    if share <= _NOTHING:
        said = f"with another input, {type(called.function).__name__} gives the same output"
        return Tried(NAME, "failed", said, step.at, numbers)
    said = f"with another input, the output changes by {share:.3g} of its size"
    return Tried(NAME, "passed", said, step.at, numbers)


def _change(
    model: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], samples: tuple[int, ...]
) -> float:
    """The largest change of an output with other inputs, beside its size, in evaluation mode."""
    modes = [one.training for one in model.modules()]
    model.eval()
    others = _other([args, kwargs])
    if not _differ([args, kwargs], others):
        raise Impossible("the model is given nothing that could be replaced")
    try:
        with torch.no_grad():
            before, after = tensors(model(*args, **kwargs)), tensors(model(*others[0], **others[1]))
    finally:
        for one, mode in zip(model.modules(), modes, strict=True):
            one.training = mode
    pairs = [
        (one.double(), other.double())
        for one, other in zip(before, after, strict=False)
        if one.is_floating_point() and one.shape[:1] == samples and one.shape == other.shape and one.numel()
    ]
    if not pairs:
        raise Impossible("the model gives no output with one row for each sample")
    if not all(bool(torch.isfinite(one).all()) for pair in pairs for one in pair):
        raise Impossible("the output is not finite")
    return max(float((one - other).abs().max() / one.abs().max().clamp_min(1e-12)) for one, other in pairs)


def _other(value: Any) -> Any:
    """Other numbers of the same kind: random ones, and other whole numbers that occur in the same tensor."""
    if not isinstance(value, torch.Tensor):
        return changed(value, _other)
    if value.is_floating_point() and value.numel() > 1:
        return value.flip(0) * 0.5 + torch.randn_like(value) * value.float().std().clamp_min(0.1).to(
            value.dtype
        )
    if value.dtype in (torch.int32, torch.int64, torch.int16, torch.uint8) and value.numel() > 1:
        known, places = torch.unique(value, return_inverse=True)
        return known[(places + 1) % known.numel()]
    return value


def _differ(first: Any, second: Any) -> bool:
    pairs = zip(leaves(first), leaves(second), strict=True)
    return any(isinstance(one, torch.Tensor) and not torch.equal(one, other) for one, other in pairs)
