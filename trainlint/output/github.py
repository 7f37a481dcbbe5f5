"""Annotations on GitHub: workflow commands, one line each, which its runner turns into notes on a change."""

from __future__ import annotations

from collections.abc import Iterator

from trainlint.finding import Finding, Level, Place, Problem
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
    place = at.in_file
    span = {"line": place.line, "endLine": place.end_line}
    if place.line == place.end_line:  # columns across lines are refused
        span |= {"col": place.column, "endColumn": place.end_column}
    return _command(
        _COMMANDS[finding.level or "error"],
        {"file": _path(at.path), "title": f"{finding.code} {finding.name}", **span},
        _said(finding),
    )


def _said(finding: Finding) -> Iterator[str]:
    yield f"{_shown(finding.at)}: {finding.code} {finding.message}"
    if finding.confidence == "likely":
        yield f"  likely: {finding.doubt}"
    if finding.verdict is not None:
        yield f"  {finding.verdict} by a recorded step"
    for because in finding.because:
        yield f"  {_shown(because.at)}: {because.message}"


def _problem(problem: Problem) -> str:
    line = {} if problem.file_line is None else {"line": problem.file_line}
    path = _path(problem.path)
    where = path if problem.cell is None else problem._replace(path=path).shown
    said = [f"{where}: {problem.message}"]
    return _command("error", {"file": _path(problem.path), "title": "trainlint", **line}, iter(said))


def _shown(at: Place) -> str:
    return at._replace(path=_path(at.path)).shown


def _path(path: str) -> str:
    return project_path(path, "GITHUB_WORKSPACE")


def _command(name: str, properties: dict[str, str | int], said: Iterator[str]) -> str:
    given = ",".join(
        f"{key}={printable(str(value)).translate(_PROPERTY)}" for key, value in properties.items()
    )
    return f"::{name} {given}::{'%0A'.join(printable(line).translate(_MESSAGE) for line in said)}"
