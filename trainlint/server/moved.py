"""Findings of an earlier text at their places in a later one, for as long as the later one cannot be read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from trainlint.finding import Because, Finding, Place


def moved(findings: Iterable[Finding], before: Sequence[str], after: Sequence[str]) -> list[Finding]:
    """Those that stand above or below the part that has changed; the rest cannot be told."""
    same_first = _same(before, after)
    same_last = min(_same(before[::-1], after[::-1]), len(before) - same_first, len(after) - same_first)
    changed_until, shift = len(before) - same_last, len(after) - len(before)

    def place(at: Place, path: str) -> Place | None:
        if at.path != path or at.end_line <= same_first:
            return at
        if at.line > changed_until:
            return at._replace(line=at.line + shift, end_line=at.end_line + shift)
        return None

    def all_moved() -> Iterator[Finding]:
        for one in findings:
            at = place(one.at, one.at.path)
            if at is not None:
                reasons = ((place(reason.at, one.at.path), reason.message) for reason in one.because)
                because = tuple(Because(at, message) for at, message in reasons if at is not None)
                yield replace(one, at=at, because=because)

    return list(all_moved())


def _same(before: Sequence[str], after: Sequence[str]) -> int:
    """How many lines are the same from the beginning."""
    return next(
        (number for number, (old, new) in enumerate(zip(before, after, strict=False)) if old != new),
        min(len(before), len(after)),
    )
