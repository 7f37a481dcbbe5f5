"""Which findings can be fixed, and by which edits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache
from itertools import groupby

from trainlint.finding import Applicability, Finding, Problem
from trainlint.fix import Propose
from trainlint.report import Fixable
from trainlint.rules import entries


def fixable(findings: Iterable[Finding]) -> Fixable:
    """Reads no source: what a rule proposes can turn out not to be possible where the finding stands."""
    found = [_applicability(finding) for finding in findings]
    return Fixable(found.count("safe"), found.count("unsafe"))


def with_fixes(
    findings: Sequence[Finding], read: Callable[[str], bytes]
) -> tuple[list[Finding], list[Problem]]:
    """The findings, sorted by path, with the edits that mend them, and the rules whose fix has failed.

    Args:
        read: the bytes of a file.
    """
    result: list[Finding] = []
    problems: dict[Problem, None] = {}
    for path, group in groupby(findings, lambda finding: finding.at.path):
        found = list(group)
        if any(proposer(one.code) for one in found if not one.suppressed):
            found = _of_file(path, read(path), found, problems)
        result += found
    return result, list(problems)


def _of_file(path: str, raw: bytes, found: list[Finding], problems: dict[Problem, None]) -> list[Finding]:
    from trainlint.editable import Undecodable, editable
    from trainlint.program.fixing.resolve import Resolver, Unparsable

    try:
        text = editable(path, raw)
        resolver = Resolver(path, text.text)
    except (Undecodable, Unparsable):
        return found
    result = []
    for one in found:
        try:
            propose = proposer(one.code)
            if propose is not None and not one.suppressed:
                fix = resolver.fix(propose(one))
                one = replace(one, fix=fix if fix is not None and text.takes(fix.edits) else None)
        except Exception as error:
            said = f"the fix of {one.code} failed, which is a bug in it: {error!r}"
            problems[Problem(path, one.at.line, said)] = None
        result.append(one)
    return result


def _applicability(finding: Finding) -> Applicability | None:
    propose = proposer(finding.code)
    if propose is None or finding.suppressed:
        return None
    try:
        first = next(propose(finding), None)
    except Exception:  # said where it is tried
        return None
    return first.applicability if first is not None else None


@cache
def proposer(code: str) -> Propose | None:
    """What proposes fixes for the findings of a rule."""
    return next((entry.fix for entry in entries() if entry.code == code), None)
