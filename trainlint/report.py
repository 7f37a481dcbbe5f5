"""What one run has to say, before it is written in any format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, get_args

from trainlint.finding import Finding, Problem, Verdict
from trainlint.reached import Reached

if TYPE_CHECKING:
    from trainlint.facts.model.recorded import Recorded


@dataclass(frozen=True)
class Withheld:
    """Findings that are there and that nobody is told of now."""

    known: int | None = None
    """Those that stand in the baseline; None where there is none."""
    gone: int = 0
    """Entries of the baseline that match nothing any more."""
    unchanged: int | None = None
    """Those on lines that have not changed; None where all lines count."""
    imported: int = 0
    """Those that lie wholly in files that the named ones import."""
    unused: int = 0
    """Those in code that the project does not use, which are information and not wanted as such."""


@dataclass(frozen=True)
class Fixable:
    """How many findings can be fixed, by what it takes."""

    safe: int = 0
    unsafe: int = 0


@dataclass(frozen=True)
class Report:
    """Findings of the rules that are on, by place; the suppressed ones among them are marked."""

    findings: tuple[Finding, ...]
    problems: tuple[Problem, ...]
    files: int
    seconds: float
    run: Recorded | None = None
    """What a run has shown, where there was one."""
    not_checked: tuple[str, ...] = ()
    """What the run leaves open, in sentences."""
    withheld: Withheld = Withheld()
    fixed: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """How many findings of each code were fixed, by file; they are not among `findings`."""
    fixable: Fixable = Fixable()
    """What of the findings that are shown can be fixed."""
    elsewhere: frozenset[str] = frozenset()
    """Files that nobody has named; findings in them have to do with those that were. They are never changed."""
    limited: tuple[Reached, ...] = ()
    """Limits that the analysis has reached, and what was therefore not judged."""
    paths: tuple[str, ...] = ()
    """The files that were named, or lie in folders that were."""
    entry_points: int = 0
    """How many bodies of files and functions were entered on their own."""

    @property
    def shown(self) -> list[Finding]:
        return [finding for finding in self.findings if not finding.suppressed]

    @property
    def within_reach(self) -> list[Finding]:
        """Those of them that may be fixed."""
        return [finding for finding in self.shown if finding.at.path not in self.elsewhere]

    @property
    def standing(self) -> list[Finding]:
        """The findings that are shown and that no run has refuted."""
        return [finding for finding in self.shown if finding.verdict != "refuted"]

    @property
    def by_level(self) -> dict[str, int]:
        """How many findings are shown, for each level."""
        counts = Counter(finding.level for finding in self.standing)
        return {level: counts[level] for level in ("error", "warning", "info")}

    @property
    def by_confidence(self) -> dict[str, int]:
        """How many findings are shown that are certain, and that are likely."""
        counts = Counter(finding.confidence for finding in self.standing)
        return {confidence: counts[confidence] for confidence in ("certain", "likely")}

    @property
    def by_verdict(self) -> dict[str, int]:
        """How many findings of each verdict there are."""
        counts = Counter(finding.verdict for finding in self.shown)
        return {verdict: counts[verdict] for verdict in get_args(Verdict)}
