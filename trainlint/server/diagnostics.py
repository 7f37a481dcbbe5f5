"""Findings in the terms of the protocol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from lsprotocol import types
from pygls.uris import from_fs_path
from pygls.workspace import PositionCodec, ServerTextPosition, ServerTextRange

from trainlint.catalogue import page_file, url
from trainlint.finding import Edit, Finding, Level, Place, Problem
from trainlint.project.source_texts import SourceTexts
from trainlint.rules import of_the_rules
from trainlint.server.documents import Text
from trainlint.server.engine import Judged
from trainlint.server.moved import Change

SOURCE = "trainlint"
_SEVERITIES: Mapping[Level, types.DiagnosticSeverity] = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "info": types.DiagnosticSeverity.Information,
}


class Places:
    """Places of files where the client sees them, in the units in which it counts."""

    def __init__(self, judged: Judged, codec: PositionCodec) -> None:
        self._sound = judged.sound
        self._now = {text.uri: text for one in judged.snapshot.documents for text in one.texts}
        self._on_disk = SourceTexts().lines
        self._codec = codec
        self._change = cache(self._changed)

    def location(self, at: Place) -> types.Location | None:
        """None in text that has changed since it could be read."""
        document = self._sound.get(at.path)
        if document is None:
            return types.Location(from_fs_path(at.path) or at.path, self._range(at, self._on_disk(at)))
        text, there = document.located(at)
        now = self._now[text.uri]
        moved = there if now.text == text.text else self._change(text).moved(there)
        return None if moved is None else types.Location(text.uri, self._range(moved, now.lines))

    def edited(self, edit: Edit) -> tuple[Text, types.TextEdit] | None:
        """A change of the text that it is in; None where that is not, or no longer, the Python that was checked."""
        document = self._sound[edit.at.path]
        text, at = document.located(edit.at)
        now = self._now[text.uri]
        if not document.takes(edit.at) or now.text != text.text:
            return None
        new, last = edit.replacement.replace("\r\n", "\n"), len(text.lines)
        if at.end_line > last:  # there is no such line, as the last one has no end
            end = len(text.lines[-1]) + 1
            if at.line > last:
                at, new = at._replace(line=last, column=end), f"\n{new}".removesuffix("\n")
            at = at._replace(end_line=last, end_column=end)
        return now, types.TextEdit(self._range(at, text.lines), new.replace("\n", text.line_end))

    def line(self, text: Text, number: int | None) -> types.Range:
        """A whole line, or the first one."""
        line = min(number or 1, len(text.lines))
        return self._range(Place("", line, 1, line, len(text.lines[line - 1]) + 1), text.lines)

    def _changed(self, text: Text) -> Change:
        return Change(text.lines, self._now[text.uri].lines)

    def _range(self, at: Place, lines: Sequence[str]) -> types.Range:
        return self._codec.range_to_client_units(
            lines,
            ServerTextRange(
                ServerTextPosition(at.line - 1, at.column - 1),
                ServerTextPosition(at.end_line - 1, at.end_column - 1),
            ),
        )


def diagnostics(judged: Judged, places: Places) -> dict[str, list[types.Diagnostic]]:
    """All that is to be shown, by URI; of what is open, also where there is nothing."""
    documents = judged.snapshot.documents
    shown: dict[str, list[types.Diagnostic]] = {text.uri: [] for one in documents for text in one.texts}
    for document in documents:
        for problem in judged.unreadable.get(document.path, ()):
            text = document.text_of(problem)
            shown[text.uri].append(_error(problem, places.line(text, problem.line)))
    for found in judged.findings.values():
        for one in found:
            location = places.location(one.at)
            if location is not None:
                shown.setdefault(location.uri, []).append(diagnostic(one, location.range, places))
    return shown


def diagnostic(finding: Finding, at: types.Range, places: Places) -> types.Diagnostic:
    reasons = ((places.location(reason.at), reason.message) for reason in finding.because)
    return types.Diagnostic(
        range=at,
        severity=_SEVERITIES[finding.level or "error"],
        code=finding.code,
        code_description=types.CodeDescription(_page(finding.code)),
        source=SOURCE,
        message=f"{finding.message}{_doubt(finding)}",
        related_information=[
            types.DiagnosticRelatedInformation(location, message)
            for location, message in reasons
            if location is not None
        ],
    )


@of_the_rules
def _page(code: str) -> str:
    """Where a rule's page is: on the site, or else where trainlint is installed."""
    return url(code) or Path(page_file(code)).as_uri()


def _doubt(finding: Finding) -> str:
    return f"\nLikely: {finding.doubt}." if finding.confidence == "likely" else ""


def _error(problem: Problem, at: types.Range) -> types.Diagnostic:
    return types.Diagnostic(
        range=at, severity=types.DiagnosticSeverity.Error, source=SOURCE, message=problem.message
    )
