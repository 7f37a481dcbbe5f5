"""The stable interface for programs: a JSON document."""

from __future__ import annotations

import json
from typing import Any

from trainlint.finding import Because, Finding
from trainlint.report import Report


def json_report(report: Report) -> str:
    document = {
        "version": 1,
        "findings": [_finding(finding) for finding in report.findings],
        "errors": [
            {"path": problem.path, "line": problem.line, "message": problem.message}
            for problem in report.problems
        ],
        "summary": {
            "files": report.files,
            "seconds": round(report.seconds, 3),
            "by_level": report.by_level,
            "by_verdict": {"confirmed": 0, "refuted": 0, "not-reached": 0, "observed": 0},
        },
    }
    return json.dumps(document, indent=2) + "\n"


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "code": finding.code,
        "name": finding.name,
        "level": finding.level,
        "message": finding.message,
        "path": finding.at.path,
        "cell": None,
        "line": finding.at.line,
        "column": finding.at.column,
        "end_line": finding.at.end_line,
        "end_column": finding.at.end_column,
        "subject": None,
        "because": [_because(because) for because in finding.because],
        "verdict": None,
        "evidence": {},
        "fix": None,
        "suppressed": finding.suppressed,
    }


def _because(because: Because) -> dict[str, Any]:
    return {
        "path": because.at.path,
        "line": because.at.line,
        "column": because.at.column,
        "message": because.message,
    }
