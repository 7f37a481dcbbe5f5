"""Which part of a run is recorded: after so many steps, or with the optimizers of a later phase."""

from __future__ import annotations


class Phases:
    """Counts what is let go by.

    Args:
        skip_steps: optimizer steps to let go by first.
        phase: the phase that is wanted, from 1.
    """

    def __init__(self, skip_steps: int = 0, phase: int = 1) -> None:
        self._skip = skip_steps
        self._left = phase - 1
        self.over: set[int] = set()
        """Numbers of the optimizers of phases that are over."""
        self.awaits_next = False
        """Whether one phase is over and the next has not begun."""

    def skips_step(self) -> bool:
        """Whether a step that was just taken is one to let go by."""
        if self._skip == 0:
            return False
        self._skip -= 1
        return True

    def ends(self, optimizers: set[int]) -> bool:
        """All of a phase is recorded: whether another one is wanted, with other optimizers."""
        if self._left == 0:
            return False
        self._left -= 1
        self.over |= optimizers
        self.awaits_next = True
        return True
