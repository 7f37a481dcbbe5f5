"""Findings in the order in which people read them, and of many that are alike, the first."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from trainlint.finding import Finding
from trainlint.output.layout import Order

_SHOWN = 3
"""How many of those that are alike are shown, where more than one would be left out."""
_LEVELS = ("info", "warning", "error")
_VERDICTS = ("refuted", "not-reached", "undecided", None, "observed", "confirmed")
_NAMED = re.compile(r"`[^`]*`|\d+")


@dataclass(frozen=True)
class Alike:
    """Findings that are left out, as they are like the one before."""

    findings: tuple[Finding, ...]


def in_order(findings: Iterable[Finding], order: Order) -> list[Finding]:
    """As asked; those of one weight stay in the order by place."""
    return sorted(findings, key=_weight) if order is Order.level else list(findings)


def folded(findings: Sequence[Finding]) -> Iterator[Finding | Alike]:
    """The findings, those that differ only in the names that they quote but three times."""
    kinds: dict[tuple[object, ...], list[Finding]] = {}
    for one in findings:
        kinds.setdefault(_kind(one), []).append(one)
    seen: dict[tuple[object, ...], int] = {}
    for one in findings:
        kind = _kind(one)
        alike = kinds[kind]
        number = seen[kind] = seen.get(kind, 0) + 1
        if number <= _SHOWN or len(alike) <= _SHOWN + 1:
            yield one
        if number == _SHOWN and len(alike) > _SHOWN + 1:
            yield Alike(tuple(alike[_SHOWN:]))


def _weight(finding: Finding) -> tuple[int, int, int]:
    return (
        _LEVELS.index(finding.level or "error"),
        _VERDICTS.index(finding.verdict),
        finding.confidence != "likely",
    )


def _kind(finding: Finding) -> tuple[object, ...]:
    message = _NAMED.sub("", finding.message)
    return finding.code, finding.level, finding.confidence, finding.verdict, message
