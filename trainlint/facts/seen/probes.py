"""Experiments on copies of the models."""

from __future__ import annotations

from dataclasses import dataclass

from trainlint.finding import Place


@dataclass(frozen=True)
class Probe:
    """An experiment on a copy of the model, after the step.

    Args:
        kind: `causal` (do outputs depend on later inputs?), `batch` (does a sample depend on another?) or `repeat` (does
            the same call from the same seed give something else?).
        leaked: whether they do.
        change: largest change of an output that should not have changed.
        scale: largest change of those that may change.
        shifted: for `causal`: whether the targets are the inputs one step on, so that it must hold.
        normalises: for `batch`: whether layers that mix samples on purpose do it, such as batch norm without running
            statistics.
        module: path of the first module that was given the same and gave something else; empty for the model itself.
        module_type: its class; empty where no such module was found.
        module_at: where it is made.
    """

    kind: str
    at: Place
    model: str
    leaked: bool
    change: float
    scale: float
    shifted: bool = False
    normalises: bool = False
    module: str = ""
    module_type: str = ""
    module_at: Place | None = None


@dataclass(frozen=True)
class DropsInEvaluation:
    """A call of a dropout function, and whether it also drops where its model is in evaluation mode."""

    at: Place
    drops: bool
