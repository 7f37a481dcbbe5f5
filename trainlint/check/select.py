"""Which rules are on: a pure function of codes, levels and what the user selected and ignored.

A selector is the beginning of a code (`TL6`, `TL101`), a rule's name, or `ALL`. Inside, a selector is
always the beginning of a code: `ALL` is the empty one. The longer selector wins over the shorter, so
that `--select TL101 --ignore TL1` leaves TL101 on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from trainlint.errors import UsageError
from trainlint.finding import Confidence, Finding, Level
from trainlint.project.patterns import user_patterns
from trainlint.project.suggestion import did_you_mean

Prefixes = frozenset[str]
LEVELS: tuple[Level, ...] = ("info", "warning", "error")


def code_prefix(selector: str, names: Mapping[str, str]) -> str | None:
    """The beginning of a code that `selector` stands for, or None; `names` holds each code's name."""
    upper = selector.upper()
    if upper == "ALL":
        return ""
    if upper and any(code.startswith(upper) for code in names):
        return upper
    return next((code for code, name in names.items() if name == selector.lower()), None)


def code_prefixes(selectors: Iterable[str], names: Mapping[str, str], origin: str) -> Prefixes:
    """What the selectors stand for; `origin` says where the user wrote them.

    Raises UsageError for one that stands for no rule.
    """
    found = set()
    for selector in selectors:
        prefix = code_prefix(selector, names)
        if prefix is None:
            raise UsageError(f"{origin}: no rule is called `{selector}`{nearest_rule(selector, names)}")
        found.add(prefix)
    return frozenset(found)


def nearest_rule(selector: str, names: Mapping[str, str]) -> str:
    """A suggestion for a selector that stands for no rule."""
    return did_you_mean(selector, [*names, *names.values()])


@dataclass(frozen=True)
class Selection:
    """Rules that are on; without `select` those are all that are more than advice."""

    select: Prefixes | None = None
    extend_select: Prefixes = frozenset()
    ignore: Prefixes = frozenset()
    ignore_in: Mapping[str, Prefixes] = field(default_factory=dict)
    """Rules that are off in the files that a gitignore-style pattern matches."""
    root: Path = Path()
    """The folder that those patterns start from."""
    min_level: Level = "info"
    min_confidence: Confidence = "likely"


def selected(findings: Iterable[Finding], selection: Selection) -> list[Finding]:
    """The findings of rules that are on where the finding is. Raises UsageError for a wrong pattern."""

    off_in = [
        (user_patterns(str(selection.root), [pattern]), codes)
        for pattern, codes in selection.ignore_in.items()
    ]

    @cache
    def off(path: str) -> Prefixes:
        matching = (codes for patterns, codes in off_in if patterns.verdict(path, is_folder=False))
        return frozenset().union(*matching)

    return [
        finding
        for finding in findings
        if is_on(finding.code, finding.level or "error", selection)
        and (finding.confidence != "likely" or selection.min_confidence == "likely")
        and _longest(finding.code, off(finding.at.path)) < 0
    ]


def is_on(code: str, level: Level, selection: Selection) -> bool:
    """Whether findings of a rule are wanted at all, wherever they are."""
    if LEVELS.index(level) < LEVELS.index(selection.min_level):
        return False
    default = frozenset() if level == "info" else frozenset([""])
    wanted = (default if selection.select is None else selection.select) | selection.extend_select
    return _longest(code, wanted) > _longest(code, selection.ignore)


def _longest(code: str, prefixes: Prefixes) -> int:
    """Length of the longest prefix of `code` among `prefixes`; -1 where there is none."""
    return max((len(prefix) for prefix in prefixes if code.startswith(prefix)), default=-1)
