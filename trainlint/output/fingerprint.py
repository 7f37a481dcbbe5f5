"""What a finding is known by when the lines around it have moved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import NamedTuple

from trainlint.finding import Finding, Place
from trainlint.project.source_texts import Lines

_MOST_LINES = 3
"""Lines of a finding's own source that count: a loop stays the same loop when its body grows."""
_NEIGHBOURS = 2
"""Lines before and after it that tell it from its like."""


class Fingerprint(NamedTuple):
    """A finding without its place: which rule, in which file, about which source, between which lines."""

    path: str
    code: str
    text: str
    around: str


def fingerprint(finding: Finding, path: str, lines: Sequence[str]) -> Fingerprint:
    """`path` is how the file is to be known; `lines` are the file's."""
    at = finding.at
    return Fingerprint(path, finding.code, _own_text(at, lines), _around(at, lines))


def stable_ids(findings: Iterable[Finding], lines: Lines) -> Iterator[str]:
    """For each finding a name that no other has, and that it keeps when its lines move."""
    seen: Counter[Fingerprint] = Counter()
    for finding in findings:
        known = fingerprint(finding, finding.at.path, lines(finding.at))
        seen[known] += 1
        named = "\0".join((*known, finding.subject or "", str(seen[known])))
        yield blake2b(named.encode(errors="surrogatepass"), digest_size=16).hexdigest()


def _own_text(at: Place, lines: Sequence[str]) -> str:
    """The source of a place, whatever its indentation."""
    own = list(lines[at.line - 1 : min(at.end_line, at.line + _MOST_LINES - 1)])
    if own and at.end_line - at.line < _MOST_LINES:
        own[-1] = own[-1][: at.end_column - 1]
    if own:
        own[0] = own[0][at.column - 1 :]
    return "\n".join(map(_squeezed, own))


def _around(at: Place, lines: Sequence[str]) -> str:
    before = _nearest(reversed(lines[: at.line - 1]))
    after = _nearest(iter(lines[at.end_line :]))
    text = "\n".join([*reversed(before), "", *after])
    return blake2b(text.encode(errors="surrogatepass"), digest_size=6).hexdigest()


def _nearest(lines: Iterator[str]) -> list[str]:
    """The first lines that are not blank."""
    found: list[str] = []
    for line in lines:
        squeezed = _squeezed(line)
        if squeezed:
            found.append(squeezed)
        if len(found) == _NEIGHBOURS:
            break
    return found


def _squeezed(line: str) -> str:
    return " ".join(line.split())
