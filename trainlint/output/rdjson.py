"""reviewdog's diagnostic format: findings as comments on a pull request, wherever that is.

https://github.com/reviewdog/reviewdog/tree/master/proto/rdf
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from trainlint.catalogue import url
from trainlint.finding import Because, Finding, Level, Place, Problem
from trainlint.output.well_formed import well_formed
from trainlint.project.source_texts import Lines
from trainlint.report import Report

_SEVERITIES: dict[Level, str] = {"error": "ERROR", "warning": "WARNING", "info": "INFO"}


def rdjson(report: Report, lines: Lines) -> str:
    """Each finding that stands, with its other places and its fix; then what could not be checked."""
    document = {
        "source": {"name": "trainlint"},
        "diagnostics": [
            *(_finding(one, lines) for one in report.standing),
            *(_problem(one) for one in report.problems),
        ],
    }
    return json.dumps(well_formed(document), indent=2) + "\n"


def _finding(finding: Finding, lines: Lines) -> dict[str, Any]:
    likely = f" (likely: {finding.doubt})" if finding.confidence == "likely" else ""
    where = url(finding.code)
    found: dict[str, Any] = {
        "message": f"{finding.name}: {finding.message}{likely}",
        "location": _location(finding.at, lines),
        "severity": _SEVERITIES[finding.level or "error"],
        "code": {"value": finding.code, **({"url": where} if where else {})},
    }
    if finding.because:
        found["related_locations"] = [_related(one, lines) for one in finding.because]
    edits = () if finding.fix is None else finding.fix.edits
    if len(edits) == 1 and edits[0].at.path == finding.at.path and edits[0].at.cell is None:
        found["suggestions"] = [{"range": _range(edits[0].at, lines), "text": edits[0].replacement}]
    return found


def _related(because: Because, lines: Lines) -> dict[str, Any]:
    return {"message": because.message, "location": _location(because.at, lines)}


def _problem(problem: Problem) -> dict[str, Any]:
    start = {} if problem.file_line is None else {"range": {"start": {"line": problem.file_line}}}
    return {"message": problem.message, "location": {"path": problem.path, **start}, "severity": "ERROR"}


def _location(at: Place, lines: Lines) -> dict[str, Any]:
    if at.cell is not None:
        return {"path": at.path, "range": {"start": {"line": at.in_file.line}}}
    return {"path": at.path, "range": _range(at, lines)}


def _range(at: Place, lines: Lines) -> dict[str, Any]:
    text = lines(at)
    return {
        "start": {"line": at.line, "column": _column(text, at.line, at.column)},
        "end": {"line": at.end_line, "column": _column(text, at.end_line, at.end_column)},
    }


def _column(text: Sequence[str], line: int, column: int) -> int:
    """In bytes of UTF-8, from 1, as this format counts."""
    here = text[line - 1] if line <= len(text) else ""
    return len(here[: column - 1].encode(errors="replace")) + 1
