"""Many findings at a glance: how often each rule found something, and where."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from trainlint.finding import Finding, Level
from trainlint.output.printable import cells, printable
from trainlint.output.style import Piece
from trainlint.output.wrapping import wrapped, wrapped_words
from trainlint.report import Report

_MANY = 10
"""How many findings can do without a table."""
_PLACES = 5
"""How many places are named; of more, in how many files they are."""
_NARROW = 30
"""Cells for places beside the rule; where there are fewer, places stand below."""
_LEVELS = ("info", "warning", "error")


def overview(report: Report, columns: int | None) -> Iterator[Piece]:
    """A table by rule, those of errors last, and a word about a rule that has found most; nothing of a few findings."""
    found = report.standing
    if len(found) <= _MANY:
        return
    rules: dict[tuple[str, Level, str], list[Finding]] = {}
    for one in found:
        rules.setdefault((one.code, one.level or "error", one.name), []).append(one)
    rows = sorted(rules.items(), key=lambda row: (_LEVELS.index(row[0][1]), -len(row[1]), row[0]))
    digits = len(str(max(map(len, rules.values()))))
    longest = max(len(name) for _, _, name in rules)
    beside = digits + len("  TL101  warning    ") + longest
    for (code, level, name), own in rows:
        yield Piece(f"{len(own):>{digits}}  ", "strong")
        yield Piece(code, level, code)
        yield Piece(f"  {level}", level)
        where = _where(own)
        named = Piece(f"{'':<{len('warning') - len(level)}}  {name}")
        at = digits + len("  TL101  ") + len(level)
        edge = columns or sys.maxsize
        if beside + min(cells(where), _NARROW) <= edge:
            words = [named, Piece(" " * (longest - len(name)) + "  "), Piece(where)]
            yield from wrapped_words(words, edge, Piece(" " * beside), at=at)
        else:
            below = Piece(" " * (digits + 2))
            yield from wrapped_words([named], edge, below, at=at)
            yield Piece(f"\n{below.text}")
            yield from wrapped_words([Piece(where)], edge, below, at=cells(below.text))
        yield Piece("\n")
    yield Piece("\n")
    yield from wrapped(_most(found, rules), columns)


def _where(findings: Sequence[Finding]) -> str:
    """The places of a few findings, or in how many files they are."""
    if len(findings) > _PLACES:
        return files(findings)
    return ", ".join(printable(one.at.shown.rpartition(":")[0]) for one in findings)


def files(findings: Sequence[Finding]) -> str:
    """In how many files they are."""
    number = len({one.at.path for one in findings})
    return f"in {number} file{'' if number == 1 else 's'}"


def _most(found: Sequence[Finding], rules: dict[tuple[str, Level, str], list[Finding]]) -> Iterator[Piece]:
    by_code: dict[str, list[Finding]] = {}
    for (code, _, _), own in rules.items():
        by_code.setdefault(code, []).extend(own)
    code, own = max(by_code.items(), key=lambda item: len(item[1]))
    if len(own) * 2 > len(found) > len(own):
        left = f"`--ignore {code}` leaves {len(found) - len(own)} of {len(found)}"
        yield Piece(f"Most findings are {code} {own[0].name}: {left}.\n")
