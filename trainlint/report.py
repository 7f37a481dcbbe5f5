"""What one run has to say, before it is written in any format."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trainlint.finding import Finding, Problem

if TYPE_CHECKING:
    from trainlint.facts.recorded import Recorded


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

    @property
    def shown(self) -> list[Finding]:
        return [finding for finding in self.findings if not finding.suppressed]

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
    def by_verdict(self) -> dict[str, int]:
        """How many findings of each verdict there are."""
        counts = Counter(finding.verdict for finding in self.shown)
        return {verdict: counts[verdict] for verdict in ("confirmed", "refuted", "not-reached", "observed")}
