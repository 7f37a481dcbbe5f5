"""Marks in examples: what must be said of a line, as far as the mark tells.

`# error` on the page of a rule, and `# error: TL101, TL102` in a scenario, say that a line is found; `# info: TL911` that
it is found as information, and `# because: TL101` that it is a second place of a finding. Behind each may stand, in this
order, a level, how sure it is, a column and words of the message: `# error: TL101[warning] likely col 12 "keeps the graph"`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from trainlint.finding import Finding, Place

_DETAILS = r'(?:\[(?P<level>error|warning|info)\])?(?: (?P<confidence>certain|likely))?(?: col (?P<column>\d+))?(?: "(?P<words>[^"]+)")?'
_OF_PAGE = re.compile(rf" *# error{_DETAILS}$")
_KIND = re.compile(r"# (error|because|info): ")
_CODE = re.compile(rf"(?P<code>TL\d+){_DETAILS}(?:, (?=TL)|\s*$)")


class Mark(NamedTuple):
    """What is said of one line; None where a mark leaves it open."""

    line: int
    code: str
    level: str | None
    confidence: str | None
    column: int | None
    words: str | None

    def fits(self, at: Place, message: str, level: str | None, confidence: str | None = None) -> bool:
        """Whether a finding, or a second place of one, is as the mark says."""
        return (
            at.line == self.line
            and self.column in (None, at.column)
            and self.level in (None, level)
            and self.confidence in (None, confidence)
            and (self.words or "") in message
        )


def marks(text: str, kind: str) -> Iterator[Mark]:
    """The marks of one kind in a file of a scenario. Raises ValueError for one that cannot be read."""
    for number, line in enumerate(text.splitlines(), 1):
        _, *pieces = _KIND.split(line)
        for named, said in zip(pieces[::2], pieces[1::2], strict=True):
            found = list(_CODE.finditer(said))
            if "".join(one[0] for one in found).strip() != said.strip() or not found:
                raise ValueError(f"line {number}: {said!r} is no mark")
            if named == kind:
                yield from (_mark(number, one["code"], one) for one in found)


def page_marks(text: str, code: str) -> Iterator[Mark]:
    """The marks of an example on the page of a rule."""
    for number, line in enumerate(text.splitlines(), 1):
        if found := _OF_PAGE.search(line):
            yield _mark(number, code, found)


def unmarked(text: str) -> str:
    """An example of a page as a user would have written it."""
    return "\n".join(_OF_PAGE.sub("", line) for line in text.split("\n"))


def misfits(marked: Iterable[Mark], findings: Iterable[Finding]) -> list[Mark]:
    """Marks for which there is no finding that is as they say."""
    found = list(findings)
    return [
        mark
        for mark in marked
        if not any(
            one.code == mark.code and mark.fits(one.at, one.message, one.level, one.confidence)
            for one in found
        )
    ]


def _mark(line: int, code: str, found: re.Match[str]) -> Mark:
    column = found["column"]
    return Mark(
        line,
        code,
        found["level"],
        found["confidence"],
        int(column) if column is not None else None,
        found["words"],
    )
