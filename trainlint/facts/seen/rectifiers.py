"""Rectifiers, sigmoids and tanhs that are no modules."""

from __future__ import annotations

from dataclasses import dataclass

from trainlint.facts.seen.tensors import Shape
from trainlint.finding import Place


@dataclass(frozen=True)
class Rectified:
    """A rectifier that a model calls as a function, such as `F.relu`.

    Args:
        module: path of the module whose forward calls it.
        layer: which layer's output it was given; None where no layer made that.
        dead: share of its units (features or channels) that are 0 for the whole batch.
    """

    at: Place
    module: str
    layer: int | None
    shape: Shape
    dead: float


@dataclass(frozen=True)
class Flattened:
    """A sigmoid or tanh that a model calls as a function.

    Args:
        name: `sigmoid` or `tanh`.
        module: path of the module whose forward calls it.
        layer: which layer's output it was given; None where no layer made that.
        saturated: share of its outputs at the flat ends.
        mean: of its outputs.
        called: how many modules had been called until then.
        model: class of the model.
    """

    at: Place
    name: str
    module: str
    layer: int | None
    shape: Shape
    saturated: float
    mean: float
    called: int
    model: str
