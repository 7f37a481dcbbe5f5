"""The modules of the models that were trained."""

from __future__ import annotations

from dataclasses import dataclass

from trainlint.facts.seen.tensors import Shape, Spread
from trainlint.finding import Place


@dataclass(frozen=True)
class ModuleSeen:
    """A module of a model that was trained.

    Args:
        path: such as `layers.0.attention`; empty for the model itself.
        model: class of the model.
        at: where the program makes it.
        order: position by first call in a recorded forward; None if it was never called.
        parameters: how many trainable elements it holds itself, without its children.
        training: its mode when it was called last; None if it was never called.
        output: shape of its (first) output.
        spread: the elements of that output.
        dead: share of its units (features or channels) that are 0 for the whole batch, in the call where it is
            least; None where it is no rectifier.
        saturated: share of its outputs at the flat ends of a sigmoid or tanh, likewise; None where it is neither.
        number: of its model, as in `ParameterSeen.model`.
        seconds: of the processor, in its fastest call after the first, without the modules that it calls itself.
    """

    path: str
    type: str
    model: str
    at: Place | None
    order: int | None
    calls: int
    parameters: int
    training: bool | None
    output: Shape | None = None
    spread: Spread | None = None
    dead: float | None = None
    saturated: float | None = None
    number: int = 0
    seconds: float | None = None


@dataclass(frozen=True)
class Unrecorded:
    """A call of a module without gradients, by a module that is called with gradients."""

    at: Place
