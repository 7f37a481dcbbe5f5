"""Which findings can be fixed, and by which edits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING, Any

from trainlint.finding import Applicability, Edit, Finding, Problem
from trainlint.fix import Propose
from trainlint.report import Fixable
from trainlint.rules import entries, of_the_rules

if TYPE_CHECKING:
    from trainlint.program.rewrite.idle import Idle


def fixable(findings: Iterable[Finding]) -> Fixable:
    """Reads no source: what a rule proposes can turn out not to be possible where the finding stands."""
    found = [_applicability(finding) for finding in findings]
    return Fixable(found.count("safe"), found.count("unsafe"))


def with_fixes(
    findings: Sequence[Finding], read: Callable[[str], bytes]
) -> tuple[list[Finding], list[Problem]]:
    """The findings, sorted by path, with what mends each if nothing else is done, and the rules whose fix has failed.

    Args:
        read: the bytes of a file.
    """
    found, problems = Fixes().added(findings, read)
    idle = cache(lambda path: _idle(path, read(path)))
    result = []
    for one in found:
        if one.fix is not None:
            one = replace(one, fix=replace(one.fix, edits=idle(one.at.path).left_out(one.fix.edits)))
        result.append(one)
    return result, problems


def without_idle(path: str, raw: bytes, edits: Iterable[Edit]) -> tuple[Edit, ...]:
    """Edits of a file, with one that takes a line out in the place of those that would leave `x = x` of it."""
    return _idle(path, raw).left_out(edits)


def _idle(path: str, raw: bytes) -> Idle:
    from trainlint.fixing.text import editable
    from trainlint.program.rewrite.idle import Idle

    text = editable(path, raw)
    return Idle(path, text.text, text.takes)


@dataclass(frozen=True)
class _InFile:
    """What the findings in one file come to."""

    raw: bytes
    asked: list[tuple[Finding, dict[str, Any]]]
    """With their clues, which make findings neither equal nor unequal."""
    findings: list[Finding]
    problems: list[Problem]


class Fixes:
    """Works out fixes, and remembers those of files that stay as they are."""

    def __init__(self) -> None:
        self._known: dict[str, _InFile] = {}

    def added(
        self, findings: Sequence[Finding], read: Callable[[str], bytes]
    ) -> tuple[list[Finding], list[Problem]]:
        """As `with_fixes`, with edits that can be made together with others."""
        result: list[Finding] = []
        problems: list[Problem] = []
        for path, group in groupby(findings, lambda finding: finding.at.path):
            found = list(group)
            if any(map(_may_be_fixed, found)):
                here = self._of_file(path, read(path), found)
                found = here.findings
                problems += here.problems
            result += found
        return result, list(dict.fromkeys(problems))

    def _of_file(self, path: str, raw: bytes, found: list[Finding]) -> _InFile:
        asked = [(one, one.clues) for one in found]
        known = self._known.get(path)
        if known is None or known.raw != raw or known.asked != asked:
            known = self._known[path] = _InFile(raw, asked, *_worked_out(path, raw, found))
        return known


def _worked_out(path: str, raw: bytes, found: list[Finding]) -> tuple[list[Finding], list[Problem]]:
    from trainlint.fixing.text import Undecodable, editable
    from trainlint.program.rewrite.resolve import Resolver, Unparsable

    try:
        text = editable(path, raw)
        resolver = Resolver(path, text.text)
    except (Undecodable, Unparsable):
        return found, []
    result = []
    problems = []
    for one in found:
        try:
            propose = proposer(one.code)
            if propose is not None and not one.suppressed:
                fix = resolver.fix(propose(one))
                one = replace(one, fix=fix if fix is not None and text.takes(fix.edits) else None)
        except Exception as error:
            entry = next(entry for entry in entries() if entry.code == one.code)
            problems.append(Problem(path, one.at.line, entry.failure("fix", error)))
        result.append(one)
    return result, problems


def _may_be_fixed(finding: Finding) -> bool:
    """Whether the rule proposes anything here, which needs no parsed file; one that fails is asked again, and said."""
    propose = proposer(finding.code)
    if propose is None or finding.suppressed:
        return False
    try:
        return next(propose(finding), None) is not None
    except Exception:
        return True


def _applicability(finding: Finding) -> Applicability | None:
    propose = proposer(finding.code)
    if propose is None or finding.suppressed:
        return None
    try:
        first = next(propose(finding), None)
    except Exception:  # said where it is tried
        return None
    return first.applicability if first is not None else None


@of_the_rules
def proposer(code: str) -> Propose | None:
    """What proposes fixes for the findings of a rule."""
    return next((entry.fix for entry in entries() if entry.code == code), None)
