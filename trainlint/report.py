"""What one run has to say, before it is written in any format."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from trainlint.finding import Finding, Problem


@dataclass(frozen=True)
class Report:
    """Findings of the rules that are on, by place; the suppressed ones among them are marked."""

    findings: tuple[Finding, ...]
    problems: tuple[Problem, ...]
    files: int
    seconds: float

    @property
    def shown(self) -> list[Finding]:
        return [finding for finding in self.findings if not finding.suppressed]

    @property
    def by_level(self) -> dict[str, int]:
        """How many findings are shown, for each level."""
        counts = Counter(finding.level for finding in self.shown)
        return {level: counts[level] for level in ("error", "warning", "info")}
