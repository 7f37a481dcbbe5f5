"""The processes that train together."""

from __future__ import annotations

from dataclasses import dataclass, field

from trainlint.finding import Place


@dataclass(frozen=True)
class Rank:
    """Where a process stands among those that train together."""

    number: int = 0
    world: int = 1


@dataclass(frozen=True)
class RankSeen:
    """One of several processes that train together, in a few numbers.

    Args:
        loss: the last value that gradients were computed for.
        gradient: norm of all gradients at its first step.
        batch: shape of the first input of its model.
        seconds: its latest step took.
    """

    number: int
    steps: int
    loss: float | None = None
    gradient: float | None = None
    batch: tuple[int, ...] = ()
    seconds: float | None = None


@dataclass(frozen=True)
class Disagreement:
    """Something that the ranks of a distributed run do not have in common."""

    at: Place | None
    what: str
    subject: str = ""
    ranks: dict[int, str] = field(default_factory=dict)
