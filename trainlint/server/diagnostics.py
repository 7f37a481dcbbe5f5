"""Findings in the terms of the protocol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from lsprotocol import types
from pygls.uris import from_fs_path
from pygls.workspace import PositionCodec, ServerTextPosition, ServerTextRange

from trainlint.catalogue import page_file
from trainlint.finding import Finding, Level, Place, Problem
from trainlint.server.engine import Judged
from trainlint.source_texts import SourceTexts

SOURCE = "trainlint"
_SEVERITIES: Mapping[Level, types.DiagnosticSeverity] = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "info": types.DiagnosticSeverity.Information,
}


class Places:
    """Places of files as ranges of documents, which count in the units that the client has asked for."""

    def __init__(self, judged: Judged, codec: PositionCodec) -> None:
        documents = judged.snapshot.documents
        self._uris = {one.path: one.uri for one in documents}
        self._lines: dict[str, Sequence[str]] = {one.path: one.lines for one in documents}
        self._on_disk = SourceTexts().lines
        self._codec = codec

    def uri(self, path: str) -> str:
        return self._uris.get(path) or from_fs_path(path) or path

    def range(self, at: Place) -> types.Range:
        return self._codec.range_to_client_units(
            self._lines_of(at),
            ServerTextRange(
                ServerTextPosition(at.line - 1, at.column - 1),
                ServerTextPosition(at.end_line - 1, at.end_column - 1),
            ),
        )

    def line(self, path: str, number: int | None) -> types.Range:
        """A whole line, or the first one."""
        lines = self._lines_of(Place(path, 1, 1, 1, 1))
        line = min(number or 1, len(lines))
        return self.range(Place(path, line, 1, line, len(lines[line - 1]) + 1))

    def _lines_of(self, at: Place) -> Sequence[str]:
        return self._lines.get(at.path) or self._on_disk(at)


def diagnostics(judged: Judged, path: str, places: Places) -> list[types.Diagnostic]:
    """All that is to be shown in one file."""
    found = [diagnostic(one, places) for one in judged.findings.get(path, ())]
    problem = judged.unreadable.get(path)
    return found if problem is None else [_error(problem, places), *found]


def diagnostic(finding: Finding, places: Places) -> types.Diagnostic:
    return types.Diagnostic(
        range=places.range(finding.at),
        severity=_SEVERITIES[finding.level or "error"],
        code=finding.code,
        code_description=types.CodeDescription(Path(page_file(finding.code)).as_uri()),
        source=SOURCE,
        message=finding.message,
        related_information=[
            types.DiagnosticRelatedInformation(types.Location(places.uri(at.path), places.range(at)), message)
            for at, message in finding.because
        ],
    )


def _error(problem: Problem, places: Places) -> types.Diagnostic:
    return types.Diagnostic(
        range=places.line(problem.path, problem.line),
        severity=types.DiagnosticSeverity.Error,
        source=SOURCE,
        message=problem.message,
    )
