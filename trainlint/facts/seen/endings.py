"""How a recording ended."""

from __future__ import annotations

from dataclasses import dataclass

from trainlint.finding import Place


@dataclass(frozen=True)
class Ending:
    """How the recording ended.

    Args:
        how: `recorded` (the steps that were asked for), `block` (the block of code that was to be), `finished`
            (the program ended before), `failed` (it raised), `interrupted`, `waited` (too long without a step), `exited` (by `os._exit`).
        error: last line of the traceback, where it raised.
        at: the program's line that raised.
    """

    how: str
    steps: int
    backwards: int
    forwards: int
    by_hand: int = 0
    """Updates of parameters by hand, past any optimizer."""
    by_hand_at: Place | None = None
    after: int = 0
    """Optimizer steps that went before the recording."""
    unrecorded: int = 0
    """Calls of models without gradients, as under `torch.no_grad()`."""
    children: int = 0
    """Processes that the program started."""
    error: str = ""
    at: Place | None = None
    seconds: float = 0.0

    @property
    def trained(self) -> bool:
        """Whether any parameter was updated, by an optimizer or by hand."""
        return bool(self.steps or self.by_hand)

    @property
    def showed_nothing(self) -> bool:
        """Whether a whole program went by without anything that belongs to training."""
        return self.how != "block" and not self.trained and not self.backwards

    @property
    def is_cut_short(self) -> bool:
        """Whether the program ended before it was done, and before it had shown what was asked for."""
        return self.how in ("failed", "interrupted", "waited", "exited")


@dataclass(frozen=True)
class NotWritten:
    """A file that the program would have written while it was being ended, and that was left as it was."""

    path: str
