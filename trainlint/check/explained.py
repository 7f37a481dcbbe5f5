"""What its author explains in a comment beside it, or has commented out, has been decided: a finding of it is information."""

from __future__ import annotations

import re
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import replace

from trainlint.check.statements import Commented, commented
from trainlint.finding import Because, Finding, Place
from trainlint.rules import entries, of_the_rules


def explained(findings: Sequence[Finding], raw: bytes) -> list[Finding]:
    """The findings of one file, and at level info those that a comment explains, in the words that their rule knows, or those
    of something whose use is commented out."""
    return _without_commented_out(_without_reasons(findings, raw), raw)


def _without_commented_out(findings: Sequence[Finding], raw: bytes) -> list[Finding]:
    patterns = _of_code()
    text = raw.decode("utf-8", "replace")
    return [
        _left_off(one, re.compile(patterns[one.code].replace("SUBJECT", re.escape(one.subject))), text)
        if one.code in patterns and one.subject and one.level != "info"
        else one
        for one in findings
    ]


def _left_off(finding: Finding, pattern: re.Pattern[str], text: str) -> Finding:
    """A finding, at level info where a comment of the text holds code of this pattern."""
    for number, line in enumerate(text.splitlines(), 1):
        found = pattern.search(line) if line.lstrip().startswith("#") else None
        if found is not None:
            at = Place(finding.at.path, number, found.start() + 1, number, found.end() + 1)
            because = (*finding.because, Because(at, "its use is commented out"))
            return replace(finding, level="info", because=because)
    return finding


def _without_reasons(findings: Sequence[Finding], raw: bytes) -> list[Finding]:
    words = _words()
    asked = {one.code for one in findings if one.code in words and one.level != "info"}
    text = raw.decode("utf-8", "replace")
    if not any(words[code].search(text) for code in asked):
        return list(findings)
    statements = [one for one in commented(raw) if one.first]
    return [_informed(one, statements, words[one.code]) if one.code in asked else one for one in findings]


def _informed(finding: Finding, statements: Sequence[Commented], words: re.Pattern[str]) -> Finding:
    for one in statements:
        if one.first <= finding.at.line <= one.last:
            for comment in _beside(one.comments, one.first):
                if words.search(comment.string):
                    return replace(
                        finding, level="info", because=(*finding.because, _reason(finding, comment))
                    )
    return finding


def _reason(finding: Finding, comment: tokenize.TokenInfo) -> Because:
    (line, column), (end_line, end_column) = comment.start, comment.end
    return Because(
        Place(finding.at.path, line, column + 1, end_line, end_column + 1), "this comment explains it"
    )


def _beside(comments: Sequence[tokenize.TokenInfo], first: int) -> Iterator[tokenize.TokenInfo]:
    """Of the comments before the end of a statement, those in it and in the lines right above its first."""
    above = first
    for one in reversed(comments):
        if one.start[0] < above - 1:
            return
        above = min(above, one.start[0])
        yield one


@of_the_rules
def _words() -> dict[str, re.Pattern[str]]:
    return {
        one.code: re.compile(one.rule.explained_by, re.IGNORECASE)
        for one in entries()
        if one.rule.explained_by
    }


@of_the_rules
def _of_code() -> dict[str, str]:
    return {one.code: one.rule.commented_out for one in entries() if one.rule.commented_out}
