"""Annotations on GitHub: workflow commands, one line each, which its runner turns into notes on a change."""

from __future__ import annotations

from collections.abc import Iterator

from trainlint.finding import Finding, Level, Problem
from trainlint.output.printable import printable
from trainlint.output.project_path import project_path
from trainlint.report import Report

_COMMANDS: dict[Level, str] = {"error": "error", "warning": "warning", "info": "notice"}
_MESSAGE = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A", ":": "%3A", ",": "%2C"})


def github(report: Report) -> str:
    """Each finding, with its other places in the lines below its message; then what could not be checked."""
    lines = [
        *(_finding(one) for one in report.standing),
        *(_problem(one) for one in report.problems),
    ]
    return "".join(f"{line}\n" for line in lines)


def _finding(finding: Finding) -> str:
    at = finding.at
    span = {"line": at.line, "endLine": at.end_line}
    if at.line == at.end_line:  # columns across lines are refused
        span |= {"col": at.column, "endColumn": at.end_column}
    return _command(
        _COMMANDS[finding.level or "error"],
        {"file": _path(at.path), "title": f"{finding.code} {finding.name}", **span},
        _said(finding),
    )


def _said(finding: Finding) -> Iterator[str]:
    at = finding.at
    yield f"{_path(at.path)}:{at.line}:{at.column}: {finding.code} {finding.message}"
    if finding.verdict is not None:
        yield f"  {finding.verdict} by a recorded step"
    for because in finding.because:
        yield f"  {_path(because.at.path)}:{because.at.line}:{because.at.column}: {because.message}"


def _problem(problem: Problem) -> str:
    line = {} if problem.line is None else {"line": problem.line}
    said = [f"{_path(problem.path)}: {problem.message}"]
    return _command("error", {"file": _path(problem.path), "title": "trainlint", **line}, iter(said))


def _path(path: str) -> str:
    return project_path(path, "GITHUB_WORKSPACE")


def _command(name: str, properties: dict[str, str | int], said: Iterator[str]) -> str:
    given = ",".join(
        f"{key}={printable(str(value)).translate(_PROPERTY)}" for key, value in properties.items()
    )
    return f"::{name} {given}::{'%0A'.join(printable(line).translate(_MESSAGE) for line in said)}"
