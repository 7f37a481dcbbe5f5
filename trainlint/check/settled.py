"""Findings that something else in the project settles: that it writes the files itself which a finding is about."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache

from trainlint import limits
from trainlint.finding import Because, Elsewhere, Finding, Place


def settled(
    findings: Sequence[Finding], read: Callable[[str], bytes], project: Callable[[], Sequence[str] | None]
) -> list[Finding]:
    """The findings, and at level info those of which the project holds what they name.

    Args:
        read: gives the content of a file by its path, and nothing for one that cannot be read.
        project: gives the files of the whole project, or None where these are too many to look through.
    """

    @cache
    def place(what: Elsewhere) -> Place | None:
        paths = project() or ()
        if len(paths) > limits.PROJECT_FILES:
            return None
        pattern = re.compile(what.pattern.encode(), re.MULTILINE)
        codes = sorted(path for path in paths if path.endswith(".py"))
        return next((at for path in codes if (at := _first(pattern, path, read(path))) is not None), None)

    return [_settled(one, place) for one in findings]


def _settled(finding: Finding, place: Callable[[Elsewhere], Place | None]) -> Finding:
    what = finding.unless
    at = place(what) if what is not None and finding.level != "info" else None
    if what is None or at is None:
        return finding
    return replace(finding, level="info", because=(*finding.because, Because(at, what.reason)))


def _first(pattern: re.Pattern[bytes], path: str, text: bytes) -> Place | None:
    """Where a pattern first stands in a text, outside of comments; of several lines, the first."""
    lines = [line.partition(b"#")[0].rstrip() for line in text.splitlines()]
    found = pattern.search(b"\n".join(lines))
    if found is None:
        return None
    number = found.string.count(b"\n", 0, found.start())
    first = found.start() - sum(len(line) + 1 for line in lines[:number])
    last = min(found.end() - found.start() + first, len(lines[number]))
    start, end = (len(lines[number][:at].decode("utf-8", "replace")) + 1 for at in (first, last))
    return Place(path, number + 1, start, number + 1, end)
