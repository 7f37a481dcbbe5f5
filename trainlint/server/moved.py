"""Findings of an earlier text at their places in a later one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from trainlint.finding import Because, Finding, Place


class Change:
    """What lies between two texts: lines in one stretch, in the place of others."""

    def __init__(self, before: Sequence[str], after: Sequence[str]) -> None:
        self._first = _same(before, after)
        last = min(_same(before[::-1], after[::-1]), len(before) - self._first, len(after) - self._first)
        self._until = len(before) - last
        self._shift = len(after) - len(before)

    def moved(self, at: Place) -> Place | None:
        """A place in the later text; None in the stretch that has changed, where it cannot be told."""
        if at.end_line <= self._first:
            return at
        if at.line > self._until:
            return at._replace(line=at.line + self._shift, end_line=at.end_line + self._shift)
        return None


def moved(findings: Iterable[Finding], changes: Mapping[str, Change]) -> list[Finding]:
    """Those that stand above or below what has changed in their files; the rest cannot be told."""

    def place(at: Place) -> Place | None:
        change = changes.get(at.path)
        return at if change is None else change.moved(at)

    def all_moved() -> Iterator[Finding]:
        for one in findings:
            at = place(one.at)
            if at is not None:
                reasons = ((place(reason.at), reason.message) for reason in one.because)
                because = tuple(Because(at, message) for at, message in reasons if at is not None)
                yield replace(one, at=at, because=because)

    return list(all_moved()) if changes else list(findings)


def _same(before: Sequence[str], after: Sequence[str]) -> int:
    """How many lines are the same from the beginning."""
    return next(
        (number for number, (old, new) in enumerate(zip(before, after, strict=False)) if old != new),
        min(len(before), len(after)),
    )
