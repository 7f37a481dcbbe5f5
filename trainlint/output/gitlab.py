"""GitLab's code quality report: a JSON list that a merge request shows as it gets better or worse."""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import Any

from trainlint.finding import Cell, Finding, Level, Problem
from trainlint.output.fingerprint import stable_ids
from trainlint.output.project_path import project_path
from trainlint.output.well_formed import well_formed
from trainlint.project.source_texts import Lines
from trainlint.report import Report

_SEVERITIES: dict[Level, str] = {"error": "major", "warning": "minor", "info": "info"}


def gitlab(report: Report, lines: Lines) -> str:
    findings = report.standing
    ids = stable_ids(findings, lines)
    issues = [
        *(_issue(finding, known) for finding, known in zip(findings, ids, strict=True)),
        *(_failure(problem) for problem in report.problems),
    ]
    return json.dumps(well_formed(issues), indent=2) + "\n"


def _issue(finding: Finding, known: str) -> dict[str, Any]:
    at = finding.at.in_file
    return {
        "check_name": f"{finding.code} {finding.name}",
        "description": f"{finding.code}: {_in_cell(finding.at.cell)}{finding.message}{_doubt(finding)}",
        "fingerprint": known,
        "severity": _SEVERITIES[finding.level or "error"],
        "location": {
            "path": project_path(at.path, "CI_PROJECT_DIR"),
            "positions": {
                "begin": {"line": at.line, "column": at.column},
                "end": {"line": at.end_line, "column": at.end_column},
            },
        },
    }


def _doubt(finding: Finding) -> str:
    return f" (likely: {finding.doubt})" if finding.confidence == "likely" else ""


def _in_cell(cell: Cell | None) -> str:
    return "" if cell is None else f"cell {cell.number}: "


def _failure(problem: Problem) -> dict[str, Any]:
    named = f"{problem.path}\0{problem.message}".encode(errors="surrogatepass")
    return {
        "check_name": "trainlint",
        "description": f"could not be checked: {_in_cell(problem.cell)}{problem.message}",
        "fingerprint": blake2b(named, digest_size=16).hexdigest(),
        "severity": "blocker",
        "location": {
            "path": project_path(problem.path, "CI_PROJECT_DIR"),
            "positions": {"begin": {"line": problem.file_line or 1}},
        },
    }
