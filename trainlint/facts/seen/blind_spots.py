"""What the recorder could not see, or failed to."""

from __future__ import annotations

from dataclasses import dataclass

from trainlint.finding import Place


@dataclass(frozen=True)
class Missed:
    """What the recorder failed to write down, which is a bug in it."""

    text: str


@dataclass(frozen=True)
class Numbered:
    """A tensor with a gradient that became a plain number of Python's, where no recorder can follow it.

    Args:
        detached: whether it had lost the gradient just before, by `detach()` or `data`.
    """

    at: Place
    detached: bool = False


@dataclass(frozen=True)
class MadeOfNumbers:
    """A tensor that was made of plain numbers of Python's, after a tensor with a gradient had become such numbers."""

    at: Place


@dataclass(frozen=True)
class Opaque:
    """A module or function that the recorder could not enter, because torch compiles or scripts it."""

    at: Place | None
    text: str


@dataclass(frozen=True)
class Elsewhere:
    """A backward pass in another thread than the one that is recorded, by the thread's name."""

    thread: str


@dataclass(frozen=True)
class NotBuilt:
    """An optimizer that the program would have built later, where its call stands: nobody waited for it."""

    path: str
    line: int


@dataclass(frozen=True)
class NotTried:
    """An experiment that could not be made, and why."""

    code: str
    why: str
