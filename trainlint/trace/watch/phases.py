"""Which part of a run is recorded: after so many steps, with the optimizers of a later phase, or of each phase."""

from __future__ import annotations

import time

_MOST = 4
"""Phases that are recorded, one after the other."""


class Phases:
    """Counts what is let go by, and what is still to come.

    Args:
        skip_steps: optimizer steps to let go by first.
        phase: the one phase that is wanted, from 1; None for each that the program comes to.
        patience: seconds to go on for the next one, where each is wanted.
    """

    def __init__(self, skip_steps: int = 0, phase: int | None = 1, patience: float = 0.0) -> None:
        self._skip = skip_steps
        self._left = phase - 1 if phase is not None else 0
        self._patience = patience
        self._waits_until = 0.0
        self._kept = 0
        self.wants_each = phase is None and not skip_steps and patience > 0
        """Whether every phase is recorded, and not only one."""
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

    def ends(self, optimizers: set[int], *, has_next: bool = False) -> bool:
        """All of a phase is recorded: whether another one is wanted, with other optimizers.

        Args:
            has_next: whether the program will build another optimizer, as far as that can be seen.
        """
        if self.wants_each:
            self._kept += 1
            if not has_next or self._kept >= _MOST:
                return False
            self._waits_until = time.monotonic() + self._patience
        elif self._left == 0:
            return False
        else:
            self._left -= 1
        self.over |= optimizers
        self.awaits_next = True
        return True

    @property
    def has_waited(self) -> bool:
        """Whether the next phase has not come in the time that it had."""
        return self.wants_each and self.awaits_next and time.monotonic() > self._waits_until
