"""The format for people: every finding with the source of every place that it needs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from trainlint.facts.seen.tried import Tried
from trainlint.finding import Finding, Place
from trainlint.output.alike import Alike, folded, in_order
from trainlint.output.excerpt import excerpt
from trainlint.output.layout import Layout
from trainlint.output.overview import files
from trainlint.output.printable import cells, printable
from trainlint.output.style import Meaning, Piece
from trainlint.output.wrapping import wrapped, wrapped_words
from trainlint.project.source_texts import Lines
from trainlint.reached import cut_short, split
from trainlint.report import Fixable, Report

_LINES_SHOWN_WHOLE = 4
_LABEL = 20
"""Cells beside a mark in which a label can begin."""
_END = Piece("\n")


def text(report: Report, lines: Lines, layout: Layout) -> Iterator[Piece]:
    """The findings that are shown, and how many more there are like them."""
    findings = in_order(report.shown, layout.order)
    for one in findings if layout.whole else folded(findings):
        if isinstance(one, Alike):
            yield from wrapped(_left_out(one), layout.columns)
        else:
            yield from finding_text(one, lines, layout)
        yield _END


def _left_out(alike: Alike) -> Iterator[Piece]:
    first, *_ = alike.findings
    level: Meaning = first.level or "error"
    yield Piece(f"{level}[{first.code}]", level)
    yield Piece(f" {first.name}: ", "strong")
    yield Piece(f"{len(alike.findings)} more {files(alike.findings)}; --show-all\n")


def closing(report: Report, *, is_told: bool = False) -> str:
    """One sentence that sums up. `is_told`: the limits that were reached are listed already."""
    aside = _aside(report)
    files = _count(report.files, "file")
    problems = f"; {_count(len(report.problems), 'problem')}, see above" if report.problems else ""
    counts = report.by_level
    found = [
        *([_count(counts["error"], "error")] if counts["error"] else []),
        *([_count(counts["warning"], "warning")] if counts["warning"] else []),
        *([f"{counts['info']} info"] if counts["info"] else []),
    ]
    verdicts = {verdict: count for verdict, count in report.by_verdict.items() if count}
    if verdicts:
        aside = f" ({', '.join(f'{count} {verdict}' for verdict, count in verdicts.items())}){aside}"
    ending = report.run.ending if report.run is not None else None
    if ending is not None and ending.is_cut_short:
        files += ", up to where the program ended"
    failed = sum(one.verdict == "failed" for one in report.run.facts(Tried)) if report.run is not None else 0
    probes = f"; {_count(failed, 'probe')} failed" if failed else ""
    said = f"Found {_listed(found) if found else 'nothing'} in {files}{aside}{problems}{probes}.\n"
    if ending is not None and ending.showed_nothing and not report.shown:
        said = f"Nothing could be judged: no training step was recorded{problems}.\n"
    if (cut := len(cut_short(report.limited))) and not is_told:
        said += f"{_count(cut, 'file')} {'was' if cut == 1 else 'were'} not followed to the end: --verbose says where.\n"
    if gone := report.withheld.gone:
        entries = (
            f"{gone} entry of the baseline matches" if gone == 1 else f"{gone} entries of the baseline match"
        )
        said += f"{entries} no finding any more: --write-baseline removes such entries.\n"
    return f"{fixed(report)}{said}{_fixable(report.fixable)}"


def limited(report: Report) -> str:
    """The limits that were reached, a line for each, and what else was not judged; empty if there is nothing to say."""
    limits, strangers = split(report.limited)
    rows = [f"  {printable(one.where)}: {one.limit}, {printable(one.lost)}\n" for one in limits]
    said = f"Limits of the analysis that were reached:\n{''.join(rows)}" if rows else ""
    rows = [f"  {printable(one.where)}: {printable(one.lost)}\n" for one in strangers]
    return f"{said}Not judged, as nobody in sight calls it:\n{''.join(rows)}" if rows else said


def fixed(report: Report) -> str:
    """What was fixed, a line for each file; empty if nothing was."""
    if not report.fixed:
        return ""
    number = sum(sum(counts.values()) for counts in report.fixed.values())
    rows = [
        f"  {printable(path)}: {', '.join(f'{count} {code}' for code, count in sorted(counts.items()))}\n"
        for path, counts in sorted(report.fixed.items())
    ]
    return f"Fixed {_count(number, 'finding')}:\n{''.join(rows)}"


def _fixable(fixable: Fixable) -> str:
    """What the user can have fixed."""
    if fixable.safe and fixable.unsafe:
        return f"{fixable.safe} can be fixed with --fix, {fixable.unsafe} more with --fix --unsafe-fixes.\n"
    if fixable.safe:
        return f"{fixable.safe} can be fixed with --fix.\n"
    if fixable.unsafe:
        return f"{fixable.unsafe} can be fixed with --fix --unsafe-fixes.\n"
    return ""


def _aside(report: Report) -> str:
    """What is there and not shown."""
    suppressed = len(report.findings) - len(report.shown)
    parts = [
        *([f"{suppressed} suppressed"] if suppressed else []),
        *([f"{report.withheld.known} in the baseline"] if report.withheld.known else []),
        *([f"{report.withheld.unchanged} on unchanged lines"] if report.withheld.unchanged else []),
        *([f"{report.withheld.imported} more in imported files"] if report.withheld.imported else []),
        *([f"{report.withheld.unused} more in unused code"] if report.withheld.unused else []),
    ]
    return f" ({', '.join(parts)})" if parts else ""


def finding_text(finding: Finding, lines: Lines, layout: Layout) -> Iterator[Piece]:
    """One finding with the source of every place."""
    yield from wrapped(_said(finding), layout.columns)
    level: Meaning = finding.level or "error"
    shown = [finding.at, *(because.at for because in finding.because)]
    gutter = max(len(str(place.end_line)) for place in shown)
    yield from _place(finding.at, "-->", level, "", lines, gutter, layout)
    for because in finding.because:
        yield from _place(because.at, ":::", "related", because.message, lines, gutter, layout)


def _said(finding: Finding) -> Iterator[Piece]:
    level: Meaning = finding.level or "error"
    yield Piece(f"{level}[{finding.code}]", level, finding.code)
    yield Piece(f" {finding.name}: ", "strong")
    yield Piece(printable(finding.message))
    yield _END
    yield from _doubt(finding)
    yield from _verdict(finding)


def _doubt(finding: Finding) -> Iterator[Piece]:
    """Why a finding is only likely."""
    if finding.confidence == "likely":
        yield Piece("  likely", "related")
        yield Piece(f": {printable(finding.doubt)}" if finding.doubt else "")
        yield _END


def _verdict(finding: Finding) -> Iterator[Piece]:
    """What a run has shown of a finding."""
    if finding.verdict is None:
        return
    meaning: Meaning = "strong" if finding.verdict in ("confirmed", "observed") else "related"
    yield Piece(f"  {finding.verdict}", meaning)
    about = [f"`{finding.subject}`"] if finding.subject else []
    numbers = [(f"{name} = {shown(value)}", value) for name, value in finding.evidence.items()]
    for number, (said, value) in enumerate([*((one, None) for one in about), *numbers]):
        yield Piece(": " if number == 0 else "; ")
        yield Piece(printable(said), "error" if _is_not_finite(value) else "")
    yield _END


def _is_not_finite(value: object) -> bool:
    return isinstance(value, float) and not math.isfinite(value)


def shown(value: Any) -> str:
    """A number as people read it."""
    if isinstance(value, float):
        return f"{value:.0f}" if value.is_integer() and abs(value) < 1e6 else f"{value:.3g}"
    return str(value)


def _place(
    at: Place, arrow: str, meaning: Meaning, label: str, lines: Lines, gutter: int, layout: Layout
) -> Iterator[Piece]:
    bar = Piece(" " * gutter + " |", "gutter")
    yield Piece(" " * gutter + arrow, "gutter")
    yield Piece(" ")
    yield Piece(printable(at.shown), "", at)
    yield _END
    marked = list(_marked_lines(at, lines(at)))
    if not marked:
        yield from wrapped(_label_alone(label, gutter), layout.columns)
        return
    yield bar
    yield _END
    for number, line, start, end in marked:
        yield Piece(f"{number:>{gutter}} |", "gutter")
        if not line and number < marked[-1][0]:
            yield _END
            continue
        piece = excerpt(line, start, end, layout.room, cells(label) + 1 if label else 0)
        mark = ("-" if meaning == "related" else "^") * piece.underline
        yield Piece(f" {piece.text}\n")
        yield bar
        yield Piece(f" {' ' * piece.indent}{mark}", meaning)
        if number == marked[-1][0]:
            more = f"... to line {at.end_line}" if at.end_line > number else ""
            beside = Piece(f"{more} {printable(label)}".rstrip(), meaning)
            yield from _beside_mark(beside, bar, piece.indent, piece.underline, layout.columns)
        yield _END


def _beside_mark(said: Piece, bar: Piece, indent: int, mark: int, columns: int | None) -> Iterator[Piece]:
    """What is said of a place: behind its mark, or below it where there is no room."""
    edge = len(bar.text) + 1 + indent
    at = edge + mark
    if columns is None or at + cells(said.text) <= columns:
        yield said
        return
    if columns - at >= _LABEL and edge + cells(said.text) > columns:
        yield from wrapped_words([said], columns, bar, Piece(" " * (at + 1 - len(bar.text))), at=at)
        return
    below = Piece(" " * (max(1, min(edge, columns - 2 * _LABEL) - len(bar.text))))
    yield _END
    yield bar
    yield below
    said = Piece(said.text.lstrip(), said.meaning)
    yield from wrapped_words([said], columns, bar, below, at=len(bar.text) + len(below.text))


def _label_alone(label: str, gutter: int) -> Iterator[Piece]:
    """What is said of a place whose source cannot be shown."""
    if label:
        yield Piece(f"{' ' * gutter} = {printable(label)}\n", "related")


def _marked_lines(at: Place, lines: Sequence[str]) -> Iterator[tuple[int, str, int, int]]:
    """Number and text of each line to show, and which of its characters the place takes."""
    last = at.end_line if at.end_line - at.line < _LINES_SHOWN_WHOLE else at.line
    for number in range(at.line, min(last, len(lines)) + 1):
        line = lines[number - 1].rstrip()
        start = at.column - 1 if number == at.line else len(line) - len(line.lstrip())
        end = at.end_column - 1 if number == at.end_line else len(line)
        yield number, line, start, end


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _listed(parts: Iterable[str]) -> str:
    *most, last = parts
    return f"{', '.join(most)} and {last}" if most else last
