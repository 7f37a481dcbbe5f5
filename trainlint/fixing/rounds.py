"""Fixes applied, round after round, until nothing changes. Nothing is written here."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from trainlint.finding import Edit, Finding, Fix, Problem
from trainlint.fixing.proposals import Fixes, without_idle
from trainlint.fixing.text import Undecodable, editable
from trainlint.project.source_texts import SourceTexts
from trainlint.report import Report

ROUNDS = 30
"""After so many, fixes that still find something to do are taken to undo each other."""

Check = Callable[[Mapping[str, bytes]], tuple[Report, SourceTexts]]
"""Checks, with these bytes in the place of what is in the files."""


@dataclass(frozen=True)
class FixedFile:
    """What was in a file, what is to be in it, and how often each rule was fixed in it."""

    before: bytes
    after: bytes
    counts: Counter[str]


@dataclass(frozen=True)
class Fixed:
    """What fixing comes to. The report is about the files as they are to be."""

    report: Report
    texts: SourceTexts
    files: Mapping[str, FixedFile]

    @property
    def count(self) -> int:
        """How many findings are fixed."""
        return sum(file.counts.total() for file in self.files.values())


def fixed(check: Check, *, unsafe: bool, writes: bool, once: bool = False) -> Fixed:
    """Fix what can be fixed.

    Args:
        unsafe: also by what somebody has to look at.
        writes: files that cannot be written are left alone.
        once: end after the first round; the report is then about the files as they are.
    """
    report, texts = check({})
    fixes = Fixes()
    given = texts.given
    files: dict[str, FixedFile] = {}
    left: dict[str, Problem] = {}
    for number in range(ROUNDS + 1):
        report, wanted = _proposed(report, texts, fixes, unsafe=unsafe)
        changed = False
        for path in sorted(wanted.keys() - left.keys()):
            try:
                if number == ROUNDS:
                    raise _LeftAlone(f"there were still fixes to apply after {ROUNDS} passes")
                if writes and path not in files and path not in given:
                    _check_writable(path)
                files[path] = _fixed_file(path, texts.raw(path), wanted[path], files.get(path))
                changed = True
            except _LeftAlone as reason:
                left[path] = Problem(path, None, f"is not fixed: {reason}")
                changed |= files.pop(path, None) is not None
        if once or not changed:
            break
        report, texts = check({**given, **{path: file.after for path, file in files.items()}})
    problems = (*report.problems, *(left[path] for path in sorted(left)))
    return Fixed(replace(report, problems=problems), texts, files)


class _LeftAlone(Exception):
    """Why a file is not fixed."""


def _proposed(
    report: Report, texts: SourceTexts, fixes: Fixes, *, unsafe: bool
) -> tuple[Report, dict[str, list[tuple[Finding, Fix]]]]:
    """The report with edits, and what of them is wanted for each file."""
    findings, problems = fixes.added(report.findings, texts.raw)
    wanted: dict[str, list[tuple[Finding, Fix]]] = {}
    known = dict.fromkeys((*report.problems, *problems))
    report = replace(report, findings=tuple(findings), problems=tuple(known))
    for one in report.within_reach:
        if one.fix is not None and (unsafe or one.fix.applicability == "safe"):
            wanted.setdefault(one.at.path, []).append((one, one.fix))
    return report, wanted


def _fixed_file(
    path: str, raw: bytes, found: Sequence[tuple[Finding, Fix]], so_far: FixedFile | None
) -> FixedFile:
    """The file after one more round. Raises _LeftAlone."""
    chosen = together(found)
    try:
        old = editable(path, raw)
        edits = {edit for _, fix in chosen for edit in fix.edits}
        new = old.edited(without_idle(path, raw, edits))
        if new.broken - old.broken:
            codes = ", ".join(sorted({finding.code for finding, _ in chosen}))
            raise _LeftAlone(
                f"the fixes of {codes} would make it invalid Python, which is a bug in trainlint"
            )
        after = new.raw
    except Undecodable as error:
        raise _LeftAlone(str(error)) from error
    counts = Counter(finding.code for finding, _ in chosen)
    if so_far is None:
        return FixedFile(raw, after, counts)
    return FixedFile(so_far.before, after, so_far.counts + counts)


def together(found: Iterable[tuple[Finding, Fix]]) -> list[tuple[Finding, Fix]]:
    """The fixes of one file that can be applied at once: of two that meet, the first. The other waits for the next
    round.

    An insertion that several want, such as that of an import, is made once.
    """
    taken: set[Edit] = set()
    chosen = []
    for finding, fix in sorted(found, key=lambda one: (one[1].edits[-1].at, one[0].code)):
        new = set(fix.edits) - taken
        if not any(_meet(edit, other) for edit in new for other in taken):
            taken |= new
            chosen.append((finding, fix))
    return chosen


def _meet(one: Edit, other: Edit) -> bool:
    """Whether two edits overlap or touch."""
    first, second = sorted((one.at, other.at))
    return (second.line, second.column) <= (first.end_line, first.end_column)


def _check_writable(path: str) -> None:
    """Raise _LeftAlone where a file cannot be replaced, as far as that can be known now."""
    try:
        target = Path(path).resolve(strict=True)
        mode = target.stat().st_mode
    except OSError as error:
        raise _LeftAlone(str(error.strerror)) from error
    if not mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH) or not os.access(target, os.W_OK):
        raise _LeftAlone("it is read-only")
    if not os.access(target.parent, os.W_OK):
        raise _LeftAlone("its folder is read-only")
