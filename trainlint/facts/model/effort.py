"""What the analysis of one training may cost: its steps are counted, and limits that were reached are noted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class OutOfSteps(Exception):
    """More was asked than the limits allow."""


class Effort:
    """A count of steps.

    Args:
        most: how many there may be.
    """

    def __init__(self, most: int) -> None:
        self.steps = 0
        self.most = most
        self.gave_up: dict[str, int] = {}
        """What was answered by "unknown" at a limit, and how often."""

    def spend(self, steps: int = 1) -> None:
        """Count steps. Raises OutOfSteps beyond the limit."""
        self.steps += steps
        if self.steps > self.most:
            raise OutOfSteps

    @contextmanager
    def allowing(self, steps: int) -> Iterator[None]:
        """Whatever is done inside may take so many steps."""
        before, self.most = self.most, self.steps + steps
        try:
            yield
        finally:
            self.most = before

    def give_up(self, what: str) -> None:
        """Note that something is not followed to its end."""
        self.gave_up[what] = self.gave_up.get(what, 0) + 1


_present: ContextVar[Effort | None] = ContextVar("effort", default=None)


def present() -> Effort | None:
    """The count of the work at hand; None outside of any."""
    return _present.get()


@contextmanager
def counted_by(effort: Effort) -> Iterator[None]:
    """Work that is done inside is counted here."""
    token = _present.set(effort)
    try:
        yield
    finally:
        _present.reset(token)


def spend(steps: int = 1) -> None:
    """Count steps of work on values that is no question, such as a walk. Raises OutOfSteps beyond the limit."""
    effort = _present.get()
    if effort is not None:
        effort.spend(steps)


def give_up(what: str) -> None:
    """Note that something is not followed to its end."""
    effort = _present.get()
    if effort is not None:
        effort.give_up(what)
