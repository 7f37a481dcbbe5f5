"""Which axis a layer takes for the batch, and which it is."""

from __future__ import annotations

from dataclasses import dataclass

from trainlint.facts.seen.tensors import Shape
from trainlint.finding import Place


@dataclass(frozen=True)
class Layout:
    """A call of a recurrent, attention or transformer module.

    Args:
        batch_first: how the module was built.
        shape: of its first input.
        batch: size of the batch, where the program's loader or loss says it.
    """

    at: Place
    module: str
    type: str
    batch_first: bool
    shape: Shape
    batch: int | None

    @property
    def batch_axis(self) -> int | None:
        """Which of the first two axes is the batch, where sizes leave no doubt."""
        if self.batch is None or self.batch < 2 or len(self.shape) != 3:
            return None
        for axis in (0, 1):
            size, other = self.shape[axis], self.shape[1 - axis]
            if size == self.batch and other > 1 and other % size:
                return axis
        return None

    @property
    def is_mismatched(self) -> bool:
        """Whether the batch certainly stands where the module looks for time."""
        return self.batch_axis == (1 if self.batch_first else 0)
