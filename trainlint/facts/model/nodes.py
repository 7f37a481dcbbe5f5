"""The branches, loops and bodies around events: a training is a tree of these."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from trainlint.facts.model.events.event import Event
from trainlint.facts.model.values import Value
from trainlint.finding import Place


@dataclass(eq=False)
class Branch:
    """Two ways to go. The same `key` in the same iteration of the loops in `varies` goes the same way."""

    key: Any
    varies: tuple[int, ...]
    then: list[Node] = field(default_factory=list)
    otherwise: list[Node] = field(default_factory=list)


@dataclass(eq=False)
class Loop:
    """A loop that runs an unknown number of times."""

    number: int
    at: Place
    body: list[Node] = field(default_factory=list)
    over: Value | None = None
    """What a `for` goes through, where it is known."""
    test: Value | None = None
    """What a `while` asks before each iteration."""
    times: str = ""
    """What the number of iterations of a `for` is called, where a name stands for it: `n` of `range(n)`, and of
    `islice(batches, self.n)`."""


@dataclass(eq=False)
class Body:
    """The body of a function that was called: `return` leaves it."""

    body: list[Node] = field(default_factory=list)


@dataclass(eq=False)
class Rounds:
    """A loop that is followed item by item: `continue` leaves one of its rounds, `break` all that are left."""

    rounds: list[list[Node]] = field(default_factory=list)


@dataclass(eq=False)
class Exit:
    """`kind` is "return", "break", "continue" or "raise"."""

    kind: str


Node = Event | Branch | Loop | Rounds | Body | Exit
