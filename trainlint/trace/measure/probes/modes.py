"""Do training and evaluation differ by more than dropout and normalisation?"""

from __future__ import annotations

from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from trainlint.facts.api.layers import DROPOUTS
from trainlint.facts.seen.tried import Tried
from trainlint.trace.measure.copies import Copy, Ran, culprit, whole
from trainlint.trace.measure.experiments.compared import difference
from trainlint.trace.measure.probes.step import Step
from trainlint.trace.measure.replay import Impossible, Replay

NAME = "modes"
_NOTHING = 1e-4
"""A change of less than this, beside the size of the output, is rounding."""
_SHARE_OF_ATTENTION = DROPOUTS["scaled_dot_product_attention"][0]
_TRAINING_OF_NORM = 5
"""The position of `training` among the arguments of `F.batch_norm`."""


def modes(step: Step) -> Tried:
    """Call the model in both modes, with torch's own layers in evaluation mode in either."""
    called = step.model
    model, args, kwargs = Replay(step.taped, None).arguments_of(called)
    name = type(called.function).__name__
    trains, other = _ran(model, args, kwargs, 0), _ran(model, args, kwargs, 1)
    evaluates = Copy(model).run(args, kwargs, whole)
    if [one.shape for one in trains.outputs] != [one.shape for one in evaluates.outputs]:
        raise Impossible(f"{name} gives something of another form in evaluation mode")
    if _share(trains, other) > _NOTHING:
        at, _ = _culprit(trains, other, model)
        raise Impossible(f"{name} draws random numbers in training mode besides dropout{at}")
    share = _share(trains, evaluates)
    numbers = {"change of the output, beside its size": share}
    said = f"without dropout, and with running statistics, the output of {name} changes by {share:.3g} of its size"
    said += " from one mode to the other"
    if share <= _NOTHING:
        return Tried(NAME, "passed", said, step.at, numbers)
    at, kind = _culprit(trains, evaluates, model)
    if "norm" in kind.lower():
        raise Impossible(f"{name} has a normalisation of its own{at}")
    if all(_are_probabilities(one) for one in evaluates.outputs):
        raise Impossible(
            f"{name} gives probabilities in evaluation mode, and something else in training mode"
        )
    return Tried(NAME, "failed", said + at, step.at, numbers)


def _culprit(first: Ran, second: Ran, model: torch.nn.Module) -> tuple[str, str]:
    """The module that gives something else for the same input, in words, and its class; nothing if it cannot be told."""
    path = culprit(first, second)
    return (f", in `{path}`", type(model.get_submodule(path)).__name__) if path else ("", "")


def _ran(model: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], draws: int) -> Ran:
    """A call in training mode, but for torch's own layers.

    Args:
        draws: how many random numbers are drawn before the model draws any.
    """
    copy = Copy(model)
    for one in copy.model.modules():
        one.training = not type(one).__module__.startswith("torch.nn.")
    with torch._C._EnableTorchFunction(), _InEvaluation(draws):
        return copy.run(args, kwargs, whole)


class _InEvaluation(TorchFunctionMode):
    """Functions that drop, or that normalise the batch, do what they do in evaluation mode."""

    def __init__(self, draws: int) -> None:
        super().__init__()
        self._draws = draws

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        given = dict(kwargs or {})
        if self._draws:
            self._draws, count = 0, self._draws
            torch.rand(count)
        name = getattr(func, "__name__", "")
        if name == "scaled_dot_product_attention":
            args, given = args[:_SHARE_OF_ATTENTION], {**given, "dropout_p": 0.0}
        elif name in DROPOUTS:
            return args[0] if args else given["input"]
        elif name == "batch_norm" and isinstance(args[1] if len(args) > 1 else None, torch.Tensor):
            args, given = args[:_TRAINING_OF_NORM], {**given, "training": False}
        return func(*args, **given)


def _share(first: Ran, second: Ran) -> float:
    """The largest change of an output, beside its size. Raises Impossible where there is none to compare."""
    pairs = [
        (one, other)
        for one, other in zip(first.outputs, second.outputs, strict=False)
        if one.is_floating_point() and one.numel()
    ]
    if not pairs:
        raise Impossible("the model gives no numbers that could be compared")
    found = [
        difference(one, other, whole) / max(float(one.double().abs().max()), 1e-12) for one, other in pairs
    ]
    if not all(share == share for share in found):
        raise Impossible("the output is not finite")
    return max(found)


def _are_probabilities(output: torch.Tensor) -> bool:
    return output.is_floating_point() and bool(((output >= 0) & (output <= 1)).all())
