"""What trainlint says: findings about places in source, and errors about files."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

Level = Literal["error", "warning", "info"]
Verdict = Literal["confirmed", "refuted", "not-reached", "observed"]


class Place(NamedTuple):
    """A span of source. Lines and columns start at 1; the end column is exclusive."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int


class Because(NamedTuple):
    """A second place that a finding needs to be understood."""

    at: Place
    message: str


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong, where it is, and the places that show why.

    A rule fills in `at`, `message` and `because`, `level` only where it departs from the rule's own, and where
    it judges a run, `subject` (the parameter or module that it is about) and `evidence` (numbers and shapes).
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

    @classmethod
    def restored(cls, data: dict[str, Any]) -> Finding:
        """From what `dataclasses.asdict` made, through JSON."""
        because = tuple(Because(Place(*at), message) for at, message in data["because"])
        return cls(**{**data, "at": Place(*data["at"]), "because": because})


class Problem(NamedTuple):
    """A file, or a rule on a file, that could not be checked; `line` is None where none applies."""

    path: str
    line: int | None
    message: str
