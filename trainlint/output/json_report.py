"""The stable interface for programs: a JSON document."""

from __future__ import annotations

import json

from trainlint.finding import Because, Cell, Finding, Fix
from trainlint.output.as_json import as_json
from trainlint.output.json_types import BecauseJson, FindingJson, FixJson, ReportJson
from trainlint.output.well_formed import well_formed
from trainlint.reached import split
from trainlint.report import Report


def json_report(report: Report) -> str:
    limits, strangers = split(report.limited)
    document: ReportJson = {
        "version": 1,
        "findings": [_finding(finding) for finding in report.findings],
        "errors": [
            {
                "path": problem.path,
                "cell": _number(problem.cell),
                "line": problem.line,
                "message": problem.message,
            }
            for problem in report.problems
        ],
        "limits": [
            {"path": one.path, "entry": one.entry, "limit": one.limit, "not_judged": one.lost}
            for one in limits
        ],
        "not_judged": [{"path": one.path, "entry": one.entry, "why": one.lost} for one in strangers],
        "summary": {
            "files": report.files,
            "seconds": round(report.seconds, 3),
            "by_level": report.by_level,
            "by_confidence": report.by_confidence,
            "by_verdict": report.by_verdict,
            "fixed": sum(sum(counts.values()) for counts in report.fixed.values()),
            "withheld": {
                "known": report.withheld.known,
                "gone": report.withheld.gone,
                "unchanged": report.withheld.unchanged,
                "imported": report.withheld.imported,
                "unused": report.withheld.unused,
            },
        },
    }
    if report.run is not None:
        from trainlint.output.json_run import run_as_json

        document["run"] = run_as_json(report.run, report.not_checked)
    return json.dumps(well_formed(document), indent=2) + "\n"


def _finding(finding: Finding) -> FindingJson:
    return {
        "code": finding.code,
        "name": finding.name,
        "level": finding.level,
        "confidence": finding.confidence,
        "doubt": finding.doubt or None,
        "message": finding.message,
        "path": finding.at.path,
        "cell": _number(finding.at.cell),
        "line": finding.at.line,
        "column": finding.at.column,
        "end_line": finding.at.end_line,
        "end_column": finding.at.end_column,
        "subject": finding.subject,
        "because": [_because(because) for because in finding.because],
        "verdict": finding.verdict,
        "evidence": as_json(finding.evidence),
        "fix": _fix(finding.fix),
        "suppressed": finding.suppressed,
    }


def _fix(fix: Fix | None) -> FixJson | None:
    if fix is None:
        return None
    return {
        "applicability": fix.applicability,
        "title": fix.title,
        "edits": [
            {
                "path": edit.at.path,
                "cell": _number(edit.at.cell),
                "line": edit.at.line,
                "column": edit.at.column,
                "end_line": edit.at.end_line,
                "end_column": edit.at.end_column,
                "replacement": edit.replacement,
            }
            for edit in fix.edits
        ],
    }


def _number(cell: Cell | None) -> int | None:
    return None if cell is None else cell.number


def _because(because: Because) -> BecauseJson:
    return {
        "path": because.at.path,
        "cell": _number(because.at.cell),
        "line": because.at.line,
        "column": because.at.column,
        "message": because.message,
    }
