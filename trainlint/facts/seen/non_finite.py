"""Where numbers stopped being finite."""

from __future__ import annotations

from dataclasses import dataclass

from trainlint.facts.seen.tensors import Shape
from trainlint.finding import Place

ZEROS = "zeros"
"""What is measured of a square root or a power: how many of its results are 0, where its derivative may be infinite."""


@dataclass(frozen=True)
class NonFinite:
    """The first operation of a step whose result holds NaN although none of its inputs does, or that is infinite
    where the loss is."""

    at: Place | None
    operation: str
    text: str
    module: str
    kind: str
    """`nan` or `inf`."""
    shape: Shape = ()
