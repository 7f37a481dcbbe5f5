"""Limits that the analysis has reached, and what it has therefore not judged."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Reached:
    """A limit that was reached in one entry point.

    Args:
        path: the file of the entry point.
        entry: the entry point as people name it: `train`, `Net.forward`, or empty for the body of the file.
        limit: its name in `trainlint.limits`.
        lost: what is not judged, in words.
    """

    path: str
    entry: str
    limit: str
    lost: str

    @property
    def where(self) -> str:
        """The entry point as people read it."""
        return f"{self.path}, {self.entry}" if self.entry else self.path


NO_CALLER = "no caller"
"""In place of a limit, where nothing was judged because nothing in sight says what things are."""


def of_stranger(path: str, entry: str, names: tuple[str, ...]) -> Reached:
    """Nothing is judged of a function that nobody calls, as these may be anything."""
    listed = ", ".join(f"`{name}`" for name in names)
    return Reached(path, entry, NO_CALLER, f"nothing says what {listed} {'is' if len(names) == 1 else 'are'}")


def split(reached: Iterable[Reached]) -> tuple[list[Reached], list[Reached]]:
    """Limits, and functions of which nothing was judged because nothing says what they are given; each in order."""
    every = sorted(reached)
    return [one for one in every if one.limit != NO_CALLER], [one for one in every if one.limit == NO_CALLER]


_CUTS = frozenset(("ENTRY_STEPS", "PROGRAM_STEPS", "PART_STEPS"))


def cut_short(reached: Iterable[Reached]) -> frozenset[str]:
    """Files with an entry point that was not followed to its end."""
    return frozenset(one.path for one in reached if one.limit in _CUTS)


_LOST = {
    "ENTRY_STEPS": "nothing in it is judged",
    "PROGRAM_STEPS": "later calls are not followed",
    "PART_STEPS": "later calls are not followed",
    "DECORATOR_STEPS": "later calls in a decorator are not followed",
    "BATCH_STEPS": "what a loader hands out is not followed to its end",
    "MAX_DEPTH": "the innermost calls are not followed",
}
"""What goes unjudged beyond the limits of the evaluator."""


def of_evaluator(path: str, entry: str, what: str) -> Reached:
    """The evaluator has stopped at a limit, or has left a question open, by its name."""
    return Reached(path, entry, what, _LOST[what]) if what in _LOST else of_question(path, entry, what)


def of_rule(path: str, entry: str, code: str) -> Reached:
    """A rule asked too much, and its findings are dropped."""
    return Reached(path, entry, "QUESTION_STEPS", f"{code} says nothing of it")


def of_question(path: str, entry: str, question: str) -> Reached:
    """An answer was left open."""
    limit, lost = _OPEN.get(question, ("QUESTION_DEPTH", f"{question} is not known of all its values"))
    return Reached(path, entry, limit, lost)


_OPEN = {"runs": ("ORDER_STEPS", "not all orders of its steps are tried")}
