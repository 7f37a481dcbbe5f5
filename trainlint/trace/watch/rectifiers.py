"""Rectifiers, and the units that they leave dead; sigmoids and tanhs, and how many of their outputs are at the flat ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from trainlint.facts.model.values import Op, constant
from trainlint.facts.seen.rectifiers import Flattened, Rectified
from trainlint.trace.measure import numbers

if TYPE_CHECKING:
    from trainlint.trace.watch.recorder import Recorder


FLAT_ENDS: dict[str, tuple[float, float]] = {"sigmoid": (0.01, 0.99), "tanh": (-0.99, 0.99)}
"""Below and above what a function hardly has a gradient."""


RECTIFIERS = frozenset(("relu", "relu6", "clamp", "clamp_min"))

_WEIGHTS = frozenset("linear @ addmm bmm matmul conv1d conv2d conv3d".split())
_BETWEEN = frozenset("+ getitem chunk split unbind view reshape transpose permute flatten".split())
"""What may stand between weights and a sigmoid or tanh that is no steep threshold."""


def note_rectified(recorder: Recorder, op: Op, result: torch.Tensor) -> None:
    """A rectifier was called as a function: it counts in a model that is trained."""
    if not _is_in_training(recorder, op) or op.at is None:
        return
    layer = _layer(op)
    if recorder.wants(Rectified, (op.at, layer)):
        with recorder.aside():
            dead = dead_units(result)
        if dead is not None:
            found = Rectified(op.at, recorder.modules.path(), layer, tuple(result.shape), dead)
            recorder.fact(found, (op.at, layer))


def note_flattened(recorder: Recorder, op: Op, result: torch.Tensor) -> None:
    """A sigmoid or tanh was called as a function, likewise."""
    if not _is_in_training(recorder, op) or op.at is None:
        return
    if not _is_made_by_weights(op):
        return
    layer = _layer(op)
    if recorder.wants(Flattened, (op.at, layer)) and numbers.plain(result) is not None and result.numel():
        with recorder.aside():
            share, mean = saturated(result, *FLAT_ENDS[op.name]), float(result.double().mean())
        outermost, path = recorder.modules.outermost, recorder.modules.path()
        model = recorder.objects.of(outermost).type if outermost is not None else ""
        shape, called = tuple(result.shape), recorder.lives.count
        found = Flattened(op.at, op.name, path, layer, shape, share, mean, called, model)
        recorder.fact(found, (op.at, layer))


def is_rectifier(op: Op) -> bool:
    """Whether one of these is a rectifier, and no other limit: `layer(x).clamp(min=0)` is one."""
    if op.name in ("relu", "relu6"):
        return True
    if op.name == "clamp" and constant(op.option(2, "max")) is not None:
        return False
    return constant(op.option(1, "min")) == 0 and _is_made_by_weights(op)


def saturated(output: torch.Tensor, low: float, high: float) -> float:
    """The share of outputs at the flat ends."""
    return float(((output < low) | (output > high)).sum()) / output.numel()


def _is_in_training(recorder: Recorder, op: Op) -> bool:
    model = recorder.modules.outermost
    is_trained = recorder.modules.is_training_forward and model is not None
    return is_trained and model is not None and recorder.models.is_one(model)


def _is_made_by_weights(op: Op) -> bool:
    """Whether a function was given what a layer made, with no factor between."""
    value = op.inputs[0] if op.inputs else None
    for _ in range(4):
        if not isinstance(value, Op):
            return False
        if value.owner is not None or value.name in _WEIGHTS:
            return True
        if value.name not in _BETWEEN or not value.inputs:
            return False
        value = value.inputs[0]
    return False


def _layer(op: Op) -> int | None:
    given = op.inputs[0] if op.inputs else None
    return given.owner.uid if isinstance(given, Op) and given.owner is not None else None


def dead_units(output: torch.Tensor) -> float | None:
    """The share of features that are 0 for every sample and position; None where there is one sample."""
    if output.dim() < 2 or output.shape[0] < 2 or output.numel() == 0:
        return None
    axis = 1 if output.dim() == 4 else -1
    others = [n for n in range(output.dim()) if n != axis % output.dim()]
    largest = output.detach().amax(dim=others)
    return float((largest <= 0).sum()) / largest.numel()
