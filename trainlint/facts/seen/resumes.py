"""Training that goes on from a saved state: what became of that state, and of the step after it."""

from __future__ import annotations

from dataclasses import dataclass

from trainlint.finding import Place


class Continued:
    """Training that goes on from a saved state."""


@dataclass(frozen=True)
class Reloaded(Continued):
    """A step after saving and loading, tried on copies, that is not the step of the run that goes on.

    Args:
        at: where the model is made.
        change: largest difference of a weight after that step.
        moved: how far that step moves a weight at most.
        losses: of the run that goes on, and after loading; none where an optimizer alone was tried.
        keeps: the attributes of an optimizer that its state does not hold.
    """

    at: Place
    model: str
    change: float
    moved: float
    losses: tuple[float, ...] = ()
    keeps: str = ""


@dataclass(frozen=True)
class Resumed(Continued):
    """State that was loaded into an optimizer, and what had become of it at the first step after that.

    Args:
        at: where it is loaded.
        type: class of the optimizer.
        steps: the largest count of steps in the state.
        entries: for how many of its parameters there was state.
        kept: for how many of them it was still there at its first step; None if it never stepped.
        rates: learning rate of each group, as loaded.
        now: the same at the first step.
        stepped_by: class of another optimizer that stepped these parameters instead; empty where there is none.
        stepped_by_at: where that is made.
        scheduler: where a scheduler was made since that stood at its beginning at the first step.
    """

    at: Place
    type: str
    steps: float
    entries: int
    kept: int | None
    rates: tuple[float, ...]
    now: tuple[float, ...]
    stepped_by: str = ""
    stepped_by_at: Place | None = None
    scheduler: Place | None = None
