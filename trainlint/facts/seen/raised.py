"""What a run raised: exceptions and warnings."""

from __future__ import annotations

from dataclasses import dataclass

from trainlint.facts.seen.tensors import Shape
from trainlint.finding import Place


@dataclass(frozen=True)
class Failure:
    """An operation that raised.

    Args:
        operation: its canonical name, as in `Op.name`; `backward` for the backward pass.
        inputs: shape, dtype and device of each tensor that it was given.
        smallest: smallest element of its first integer input; None where there is none.
        largest: largest element of that input.
        error: class of the exception.
        culprit: for a backward that met a changed tensor, the in-place operation that changed it.
    """

    at: Place
    operation: str
    text: str
    error: str
    message: str
    inputs: tuple[tuple[Shape, str, str], ...] = ()
    smallest: float | None = None
    largest: float | None = None
    culprit: Place | None = None
    culprit_text: str = ""

    @property
    def is_of_positions(self) -> bool:
        """Whether the whole numbers it was given are one after the other, as positions are."""
        shape = self.inputs[0][0] if self.inputs else ()
        if not shape or self.smallest is None or self.largest is None or max(shape) < 2:
            return False
        return self.smallest in (0, 1) and self.largest - self.smallest == shape[-1] - 1


@dataclass(frozen=True)
class Warned:
    """A warning that was raised during the run, with the line of the program that led to it."""

    at: Place | None
    category: str
    message: str
