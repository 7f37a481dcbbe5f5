"""Whether a bug was found."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bugs import Bug
from trial import Found, Outcome


@dataclass(frozen=True)
class Trial:
    """A bug in its program, and the same program without it."""

    bug: Bug
    outcome: Outcome
    clean: Outcome

    @property
    def in_source(self) -> bool:
        return bool(self.named(self.outcome.read))

    @property
    def in_run(self) -> bool:
        return bool(self.named(self.outcome.ran))

    @property
    def by_either(self) -> bool:
        return self.in_source or self.in_run

    def named(self, found: Iterable[Found]) -> list[Found]:
        """The findings of a rule that names the bug, and that the unchanged program does not have."""
        before = {one.key for one in (*self.clean.read, *self.clean.ran, *self.clean.open)}
        return [one for one in found if one.code in self.bug.codes and one.key not in before]

    @property
    def others(self) -> list[str]:
        """Other rules that spoke up on the changed program alone."""
        before = {one.key for one in (*self.clean.read, *self.clean.ran, *self.clean.open)}
        found = [*self.outcome.read, *self.outcome.ran]
        return sorted({one.code for one in found if one.key not in before} - self.bug.codes)
