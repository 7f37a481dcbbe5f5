"""Formats that GitHub and GitLab read."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from junitparser import JUnitXml

from tests.hostile_report import FILES, report
from trainlint.check import checking
from trainlint.check.analysis import Analysis
from trainlint.finding import Problem

if TYPE_CHECKING:
    from tests.conftest import Project, Trainlint

COMMAND = re.compile(r"::(?P<name>[a-z]+) (?P<properties>[^\n]*?)::(?P<message>.*)")


def runner(line: str) -> tuple[str, dict[str, str], str]:
    """A workflow command as GitHub's runner takes it apart."""
    match = COMMAND.fullmatch(line)
    assert match, line
    properties = {}
    for pair in match["properties"].split(","):
        key, _, value = pair.partition("=")
        for escaped, meant in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
            value = value.replace(escaped, meant)
        properties[key] = value
    message = match["message"]
    for escaped, meant in (("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):
        message = message.replace(escaped, meant)
    return match["name"], properties, message


def test_github_of_hostile_names(hostile: Trainlint) -> None:
    lines = report(hostile, "github").stdout.splitlines()
    commands = [runner(line) for line in lines]
    assert len(commands) == len(FILES) + 1
    assert {name for name, *_ in commands} == {"error"}
    files = {properties["file"] for _, properties, _ in commands}
    assert {
        "::error title=x::y.py",
        "comma,colon:percent%41.py",
        "new\\nline\\r.py",
        "\\x1b[31mred\\x07.py",
    } <= files
    for _, properties, message in commands:
        assert properties.keys() >= {"file", "title", "line"}
        assert "\\n::set-output::" in message


def test_github(project: Project, trainlint: Trainlint, monkeypatch: pytest.MonkeyPatch) -> None:
    root = project(
        {
            "sub/a.py": "x = tl101()\ntl301_warning(\n)\ntl101_info()\ntl101()  # trainlint: ignore\nreason()\n",
            "sub/broken.py": "x\n(\n",
        }
    )
    monkeypatch.chdir(root / "sub")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(root))
    lines = report(trainlint, "github", "--select", "ALL").stdout.splitlines()
    [error, warning, notice, problem] = map(runner, lines)
    assert [one[0] for one in (error, warning, notice, problem)] == ["error", "warning", "notice", "error"]
    assert error[1] == {
        "file": "sub/a.py",
        "title": "TL101 softmax-before-cross-entropy",
        "line": "1",
        "endLine": "1",
        "col": "5",
        "endColumn": "12",
    }
    assert error[2] == "sub/a.py:1:5: TL101 this is wrong\n  sub/a.py:6:1: this is why"
    assert warning[1].keys() == {"file", "title", "line", "endLine"}
    assert problem[1] == {"file": "sub/broken.py", "title": "trainlint", "line": "2"}


def test_a_file_cannot_speak_to_github_in_the_formats_for_people(
    project: Project, trainlint: Trainlint
) -> None:
    project({"::error::a.py": "tl101()\n", "::stop-commands::b.py": "(\n"})
    for output_format in ("text", "concise"):
        said = trainlint("check", "--output-format", output_format)
        lines = [*said.stdout.splitlines(), *said.stderr.splitlines()]
        assert lines
        assert not [line for line in lines if line.lstrip().startswith("::") and line[:3] != ":::"]


def gitlab_of(text: str) -> list[dict[str, Any]]:
    issues: list[dict[str, Any]] = json.loads(text)
    for issue in issues:
        assert issue.keys() == {"check_name", "description", "fingerprint", "severity", "location"}
        assert issue["severity"] in ("info", "minor", "major", "critical", "blocker")
        assert issue["location"]["positions"]["begin"]["line"] > 0
        assert not issue["location"]["path"].startswith(("/", "./"))
    assert len({issue["fingerprint"] for issue in issues}) == len(issues)
    return issues


def test_gitlab_of_hostile_names(hostile: Trainlint) -> None:
    assert len(gitlab_of(report(hostile, "gitlab").stdout)) == len(FILES) + 1


def test_gitlab(project: Project, trainlint: Trainlint, monkeypatch: pytest.MonkeyPatch) -> None:
    root = project({"sub/a.py": "tl101()\ntl301_warning()\ntl101_info()\n", "sub/b.py": "("})
    monkeypatch.chdir(root / "sub")
    monkeypatch.setenv("CI_PROJECT_DIR", str(root))
    issues = gitlab_of(report(trainlint, "gitlab", "--select", "ALL").stdout)
    assert [(one["check_name"].split()[0], one["severity"]) for one in issues] == [
        ("TL101", "major"),
        ("TL301", "minor"),
        ("TL101", "info"),
        ("trainlint", "blocker"),
    ]
    assert issues[0]["location"] == {
        "path": "sub/a.py",
        "positions": {"begin": {"line": 1, "column": 1}, "end": {"line": 1, "column": 8}},
    }


@pytest.mark.parametrize(("line", "shown"), [(None, 1), (7, 7)])
def test_a_problem_of_a_whole_file_stands_in_its_first_line(
    line: int | None, shown: int, project: Project, trainlint: Trainlint, monkeypatch: pytest.MonkeyPatch
) -> None:
    project({"a.py": "x = 1\n" * 9})
    problem = Problem("a.py", line, "cannot be read")
    monkeypatch.setattr(checking, "analyse", lambda *_, **__: Analysis((), (problem,), 1))
    (issue,) = gitlab_of(trainlint("check", "--output-format", "gitlab").stdout)
    assert issue["location"]["positions"] == {"begin": {"line": shown}}
    suites = JUnitXml.fromstring(trainlint("check", "--output-format", "junit").stdout.encode())
    assert [case._elem.get("line") for suite in suites for case in suite] == [str(shown)]


def test_gitlab_knows_a_finding_again_when_lines_move(project: Project, trainlint: Trainlint) -> None:
    body = "before()\ntl101(a)\nbetween()\ntl101(b)\nbetween()\ntl101(b)\n"
    project({"a.py": body})
    first = gitlab_of(report(trainlint, "gitlab").stdout)
    project({"a.py": "\n# a comment\n\n\n" + body})
    second = gitlab_of(report(trainlint, "gitlab").stdout)
    assert [one["fingerprint"] for one in first[1:]] == [one["fingerprint"] for one in second[1:]]
    assert [one["location"] for one in first] != [one["location"] for one in second]
