"""When checks that take long may begin."""

from __future__ import annotations

_QUICK = 0.5
"""A check that takes no longer needs no pace."""
_REST = 3
"""How much longer than it has worked a long check waits before the next: it takes a quarter of a core at most."""
_PAUSE, _LONGEST_PAUSE = 0.2, 2.0
"""Without a change for so much of the time that it will take, and at most so long, somebody has stopped typing."""


class Pace:
    """Keeps account of what whole checks cost, in seconds of the processor. Moments are given, in seconds too."""

    def __init__(self) -> None:
        self._cost = 0.0
        self._rested_at = 0.0

    @property
    def is_quick(self) -> bool:
        """Whether a whole check will be done before anybody waits for it, as far as the last one can tell."""
        return self._cost < _QUICK

    def worked(self, seconds: float, ended_at: float, *, to_the_end: bool) -> None:
        """Take note of a whole check, or of one that was overtaken."""
        self._cost = seconds if to_the_end else max(seconds, self._cost)
        self._rested_at = ended_at if self.is_quick else ended_at + _REST * seconds

    def begin(self, changed_at: float) -> float:
        """When a whole check of what has changed then may begin."""
        return max(changed_at + min(_PAUSE * self._cost, _LONGEST_PAUSE), self._rested_at)
