"""SARIF 2.1.0, the exchange format of static analysis: code scanning on GitHub and viewers in editors read it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from trainlint import __version__
from trainlint.catalogue import describe, page, url
from trainlint.finding import Because, Confidence, Finding, Fix, Level, Place, Problem
from trainlint.output.as_json import as_json
from trainlint.output.fingerprint import stable_ids
from trainlint.output.well_formed import well_formed
from trainlint.project.source_texts import Lines
from trainlint.report import Report

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS: dict[Level, str] = {"error": "error", "warning": "warning", "info": "note"}
_SEVERITIES: dict[Level, str] = {"error": "error", "warning": "warning", "info": "recommendation"}
_RANKS: dict[Confidence, float] = {"certain": 95.0, "likely": 60.0}
_PRECISIONS: dict[Confidence, str] = {"certain": "very-high", "likely": "medium"}
_ROOT = "%SRCROOT%"
_LINK = re.compile(r"\[(?=[^\]]*\]\()")
_PLACEHOLDER = re.compile(r"\{(\d+)\}")


def sarif(report: Report, lines: Lines) -> str:
    """Every finding, the silenced ones marked as such, with the pages of the rules that found something."""
    codes = sorted({finding.code for finding in report.findings})
    ids = stable_ids(report.findings, lines)
    run = {
        "tool": {
            "driver": {
                "name": "trainlint",
                "version": __version__,
                "semanticVersion": __version__,
                "rules": _rules(codes),
            }
        },
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {_ROOT: {"uri": Path.cwd().as_uri() + "/"}},
        "invocations": [
            {
                "executionSuccessful": not report.problems,
                "toolExecutionNotifications": [_notification(problem) for problem in report.problems],
            }
        ],
        "results": [
            _result(finding, codes.index(finding.code), known, lines)
            for finding, known in zip(report.findings, ids, strict=True)
        ],
    }
    document = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(well_formed(document), indent=2) + "\n"


def _rules(codes: Sequence[str]) -> list[dict[str, Any]]:
    return [
        {
            "id": rule.code,
            "name": rule.name,
            "shortDescription": {"text": _message(rule.name.replace("-", " "))},
            "fullDescription": {"text": _message(rule.summary)},
            **({"helpUri": where} if (where := url(rule.code)) else {}),
            "help": {"text": page(rule.code), "markdown": page(rule.code)},
            "defaultConfiguration": {"level": _LEVELS[rule.level]},
            "properties": {
                "tags": ["pytorch", "training"],
                "problem.severity": _SEVERITIES[rule.level],
                "precision": _PRECISIONS[rule.confidence],
            },
        }
        for rule in map(describe, codes)
    ]


def _result(finding: Finding, index: int, known: str, lines: Lines) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": index,
        "level": _LEVELS[finding.level or "error"],
        "message": {"text": _message(finding.message)},
        "locations": [_location(finding.at, lines)],
        "partialFingerprints": {"trainlint/v1": known},
    }
    if finding.because:
        result["relatedLocations"] = [
            _related(number, because, lines) for number, because in enumerate(finding.because, start=1)
        ]
    if finding.suppressed:
        result["suppressions"] = [{"kind": "inSource"}]
    elif finding.verdict == "refuted":
        said = "not reproduced at runtime: the line ran in a recorded step without this problem"
        result["suppressions"] = [{"kind": "external", "status": "accepted", "justification": said}]
    if finding.fix is not None:
        result["fixes"] = [_fix(finding.fix)]
    properties: dict[str, Any] = {}
    if finding.confidence is not None:
        result["rank"] = _RANKS[finding.confidence]
        properties = {"confidence": finding.confidence}
    if finding.doubt:
        properties["doubt"] = finding.doubt
    if finding.verdict is not None:
        properties["verdict"] = finding.verdict
        properties["subject"] = finding.subject
        properties["evidence"] = as_json(finding.evidence)
    if properties:
        result["properties"] = properties
    return result


def _related(number: int, because: Because, lines: Lines) -> dict[str, Any]:
    return {
        "id": number,
        **_location(because.at, lines),
        "message": {"text": _message(because.message)},
    }


def _fix(fix: Fix) -> dict[str, Any]:
    edits = fix.in_file
    by_path = {edit.at.path: [one for one in edits if one.at.path == edit.at.path] for edit in edits}
    return {
        "description": {"text": _message(f"{fix.title} ({fix.applicability})")},
        "artifactChanges": [
            {
                "artifactLocation": _artifact(path),
                "replacements": [
                    {"deletedRegion": _region(edit.at), "insertedContent": {"text": edit.replacement}}
                    for edit in here
                ],
            }
            for path, here in by_path.items()
        ],
    }


def _notification(problem: Problem) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": _artifact(problem.path)}
    if problem.file_line is not None:
        physical["region"] = {"startLine": problem.file_line}
    return {
        "level": "error",
        "message": {"text": _message(problem.message)},
        "locations": [{"physicalLocation": physical}],
    }


def _location(at: Place, lines: Lines) -> dict[str, Any]:
    if at.cell is None:
        return {"physicalLocation": _physical(at, lines)}
    cell = {"name": f"cell {at.cell.number}", "fullyQualifiedName": at.shown, "kind": "cell"}
    return {"physicalLocation": _physical(at, lines), "logicalLocations": [cell]}


def _physical(at: Place, lines: Lines) -> dict[str, Any]:
    own = lines(at)[at.line - 1 : at.end_line]
    snippet = {"snippet": {"text": "\n".join(own)}} if own else {}
    place = at.in_file
    return {
        "artifactLocation": _artifact(at.path),
        "region": _region(place),
        "contextRegion": {"startLine": place.line, "endLine": place.end_line, **snippet},
    }


def _region(at: Place) -> dict[str, int]:
    return {
        "startLine": at.line,
        "startColumn": at.column,
        "endLine": at.end_line,
        "endColumn": at.end_column,
    }


def _artifact(path: str) -> dict[str, str]:
    """A path below the working directory is relative to it, and any other is whole."""
    quoted = quote(os.fsencode(path.replace(os.sep, "/")))
    if os.path.isabs(path):
        return {"uri": f"file://{quoted if quoted.startswith('/') else f'/{quoted}'}"}
    return {"uri": quoted, "uriBaseId": _ROOT}


def _message(text: str) -> str:
    """`text` as a reader shows it unchanged: what looks like a link or a placeholder is escaped."""
    return _PLACEHOLDER.sub(r"{{\1}}", _LINK.sub(r"\\[", text))
