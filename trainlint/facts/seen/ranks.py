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
class Disagreement:
    """Something that the ranks of a distributed run do not have in common."""

    at: Place | None
    what: str
    subject: str = ""
    ranks: dict[int, str] = field(default_factory=dict)
