"""What trainlint says: findings about places in source, and errors about files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

Level = Literal["error", "warning", "info"]
Verdict = Literal["confirmed", "refuted", "undecided", "not-reached", "observed"]
Confidence = Literal["certain", "likely"]


class Cell(NamedTuple):
    """A cell of a notebook, by its number among all cells, and where a span of it stands in the notebook's file."""

    number: int
    line: int
    column: int
    end_line: int
    end_column: int


class Place(NamedTuple):
    """A span of source. Lines and columns start at 1; the end column is exclusive.

    Those in a notebook count through its program, and in the cell once `cell` is there.
    """

    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    cell: Cell | None = None

    @property
    def shown(self) -> str:
        """As people read it."""
        cell = f"cell {self.cell.number}:" if self.cell is not None else ""
        return f"{self.path}:{cell}{self.line}:{self.column}"

    @property
    def in_file(self) -> Place:
        """Where it is in the text of its file."""
        return self if self.cell is None else Place(self.path, *self.cell[1:])


Version = tuple[int, ...]
"""`(2, 6)` is torch 2.6."""


class Versions(NamedTuple):
    """The versions of torch that a finding is about.

    Args:
        since: it matters to a project whose oldest torch is at least this: there, what it asks for can be done.
        before: and that may get a torch older than this when it is installed today.
        gone: whatever the oldest is, it matters to a project that is also for this version: there, the code fails.
    """

    since: Version | None = None
    before: Version | None = None
    gone: Version | None = None


class Edit(NamedTuple):
    """Source to put in the place of a span; one without length is where it is inserted."""

    at: Place
    replacement: str


Applicability = Literal["safe", "unsafe"]


@dataclass(frozen=True)
class Fix:
    """Edits that belong together and mend a finding; the title says in a few words what they do."""

    applicability: Applicability
    title: str
    edits: tuple[Edit, ...]
    in_notebook: tuple[Edit, ...] | None = None
    """What they come to in the text of a notebook's file, once they are told by cell."""

    @property
    def in_file(self) -> tuple[Edit, ...]:
        """The edits in the text of the file."""
        return self.edits if self.in_notebook is None else self.in_notebook


class Because(NamedTuple):
    """A second place that a finding needs to be understood."""

    at: Place
    message: str


class Elsewhere(NamedTuple):
    """What may stand anywhere in a project, as a pattern, and what it says of a finding, which then is information."""

    pattern: str
    reason: str


_WORSE = frozenset((("error", "warning"), ("error", "info"), ("warning", "info")))
"""Of two levels, the first is the worse one."""


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong, where it is, and the places that show why.

    A rule fills in `at`, `message` and `because`, `level` and `confidence` (with a `doubt`) only where they depart from the rule's own, `torch` where
    it is about some versions of torch alone, and where it judges a run, `subject` (the parameter or module that it is about) and `evidence` (numbers and shapes).
    The machine adds the rest.
    """

    at: Place
    message: str
    because: tuple[Because, ...] = ()
    level: Level | None = None
    code: str = ""
    name: str = ""
    suppressed: bool = False
    subject: str | None = None
    evidence: dict[str, Any] = field(default_factory=dict, hash=False)
    verdict: Verdict | None = None
    torch: Versions | None = None
    clues: dict[str, Any] = field(default_factory=dict, compare=False)
    """What the rule's fix has to know beside the places; of what is found twice, that on which both agree."""
    fix: Fix | None = None
    confidence: Confidence | None = field(default=None, compare=False)
    """How sure it is; a rule says so only where it departs from its own."""
    doubt: str = field(default="", compare=False)
    """Why it is only likely."""
    unless: Elsewhere | None = field(default=None, compare=False)
    """What makes it information, where the project holds it."""
    is_shown_by_runs: bool = True
    """Whether a run that comes by shows it, where it is right."""

    def agreed(self, again: Finding) -> Finding:
        """This, with the clues that the same finding has where something else has led to it; as sure as the surer, and as
        bad as the worse."""
        if (again.clues, again.confidence, again.level) == (self.clues, self.confidence, self.level):
            return self
        shared = {key: clue for key, clue in self.clues.items() if again.clues.get(key) == clue}
        surer = again if again.confidence == "certain" else self
        worse = again if (again.level, self.level) in _WORSE else self
        return replace(worse, clues=shared, confidence=surer.confidence, doubt=surer.doubt)

    @classmethod
    def restored(cls, data: dict[str, Any]) -> Finding:
        """From what `dataclasses.asdict` made, through JSON."""
        because = tuple(Because(Place(*at), message) for at, message in data["because"])
        torch = data["torch"] and Versions(*(one and tuple(one) for one in data["torch"]))
        unless = data["unless"] and Elsewhere(*data["unless"])
        return cls(**{**data, "at": Place(*data["at"]), "because": because, "torch": torch, "unless": unless})


def not_shown_by_runs(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Findings of which a run that comes by shows nothing, so it does not refute them either."""
    return (replace(one, is_shown_by_runs=False) for one in findings)


@dataclass(frozen=True)
class Open:
    """What a rule cannot decide at a place, where a run does not show enough: it keeps the run from refuting what the
    same rule has found there in the source. The machine adds the rule's code.

    Args:
        why: what was not shown, in a few words that go on from "left open": `whether the gradients are cleared`.
    """

    at: Place
    why: str = ""
    code: str = ""


class Problem(NamedTuple):
    """A file, or a rule on a file, that could not be checked; `line` is None where none applies."""

    path: str
    line: int | None
    message: str
    cell: Cell | None = None

    @property
    def shown(self) -> str:
        """Where it is, as people read it."""
        cell = f":cell {self.cell.number}" if self.cell is not None else ""
        return f"{self.path}{cell}" if self.line is None else f"{self.path}{cell}:{self.line}"

    @property
    def file_line(self) -> int | None:
        """The line in the text of the file."""
        return self.line if self.cell is None else self.cell.line
