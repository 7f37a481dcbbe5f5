"""Formats for programs: valid for those who read them, whatever stands in file names and in source."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_to_bytes
from xml.etree import ElementTree

import pytest
from jsonschema import Draft7Validator, FormatChecker
from junitparser import Error, Failure, JUnitXml
from markdown_it import MarkdownIt
from typer.testing import CliRunner

from trainlint.catalogue import page
from trainlint.check import checking
from trainlint.check.analysis import Analysis, Source
from trainlint.cli.app import app
from trainlint.finding import Because, Finding, Place, Problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.conftest import Outcome, Project, Trainlint

OWN = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)}
SCHEMA = json.loads((Path(__file__).parent / "schemas/sarif-2.1.0.json").read_text())
DOCUMENTS = ["json", "sarif", "gitlab", "junit", "github", "rdjson", "markdown"]

FILES = [
    "plain.py",
    "with space.py",
    "::error title=x::y.py",
    "comma,colon:percent%41.py",
    "<b>&amp;'\".py",
    "[link](x) {0}.py",
    "new\nline\r.py",
    "\x1b[31mred\x07.py",
    "\u202egnitrw.py",
    "é模.py",
    "]]>.py",
    os.fsdecode(b"latin\xe9.py"),
]
SOURCE = "tl101('<script>&amp;]]>', '::error::', '%0A', '\x1b[31m', '\x07\x0b', '\ufffe', '[a](b)', '{0}')  # é模\n"


@pytest.fixture
def hostile(project: Project, trainlint: Trainlint, monkeypatch: pytest.MonkeyPatch) -> Trainlint:
    """A project in which everything that is printed tries to be something else."""
    root = project({"first.py": "reason()\n"})
    for name in FILES:
        (root / name).write_text(SOURCE, encoding="utf-8", newline="")
    (root / "broken\n::error::.py").write_text("(\n")
    monkeypatch.setattr(checking, "analyse", hostile_analysis)
    for variable in ("GITHUB_WORKSPACE", "CI_PROJECT_DIR"):
        monkeypatch.delenv(variable, raising=False)
    return trainlint


MESSAGE = "`x['\x1b[31m']\n::set-output::` <b>&\u202e100%\r\x07\ufffe, [a](b) {0} {x} losses[0](y) é模"


def hostile_analysis(sources: Sequence[Source], **_: object) -> Analysis:
    findings, problems = [], []
    for source in sources:
        if source.path.startswith("broken"):
            problems.append(Problem(source.path, 1, MESSAGE))
        elif source.path != "first.py":
            because = Because(Place("first.py", 1, 1, 1, 9), MESSAGE)
            at = Place(source.path, 1, 1, 1, 6)
            findings.append(
                Finding(at, MESSAGE, (because,), "error", "TL101", "softmax-before-cross-entropy")
            )
    return Analysis(tuple(sorted(findings, key=lambda one: one.at)), tuple(problems), len(sources))


def report(trainlint: Trainlint, output_format: str, *arguments: str) -> Outcome:
    outcome = trainlint("check", "--output-format", output_format, *arguments)
    assert outcome.exit_code == 1, outcome.output
    assert outcome.stderr == ""
    return outcome


def sarif_of(text: str) -> Any:
    document = json.loads(text)
    Draft7Validator.check_schema(SCHEMA)
    errors = list(Draft7Validator(SCHEMA, format_checker=FormatChecker()).iter_errors(document))
    assert not errors, errors
    [run] = document["runs"]
    return run


@pytest.mark.parametrize("output_format", DOCUMENTS)
def test_no_document_holds_what_a_terminal_or_a_strict_reader_stumbles_over(
    hostile: Trainlint, output_format: str
) -> None:
    text = report(hostile, output_format).stdout
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\ud800-\udfff\ufffe]", text)
    if output_format in ("json", "sarif", "gitlab", "rdjson"):
        json.dumps(json.loads(text), ensure_ascii=False).encode()  # no half of a pair is hidden in escapes


@pytest.mark.parametrize("output_format", DOCUMENTS)
def test_a_document_is_the_same_in_a_file(hostile: Trainlint, output_format: str) -> None:
    shown = report(hostile, output_format).stdout
    assert report(hostile, output_format, "--output-file", "out.txt").stdout == ""
    timeless = [
        re.sub(r'("seconds": |time=")[\d.]+', "", text)
        for text in (shown, Path("out.txt").read_text(encoding="utf-8"))
    ]
    assert timeless[0] == timeless[1]


def test_sarif_of_hostile_names(hostile: Trainlint) -> None:
    run = sarif_of(report(hostile, "sarif").stdout)
    assert run["columnKind"] == "unicodeCodePoints"
    places = [one["locations"][0]["physicalLocation"]["artifactLocation"] for one in run["results"]]
    assert {unquote_to_bytes(one["uri"]) for one in places} == {os.fsencode(name) for name in FILES}
    assert all(re.fullmatch(r"[\w.~%/-]+", one["uri"], re.ASCII) for one in places)
    base = run["originalUriBaseIds"][places[0]["uriBaseId"]]["uri"]
    assert base == Path.cwd().as_uri() + "/"
    message = run["results"][0]["message"]["text"]
    assert r"\[a](b) {{0}} {x} losses\[0](y)" in message
    [failure] = run["invocations"][0]["toolExecutionNotifications"]
    assert not run["invocations"][0]["executionSuccessful"]
    assert failure["locations"][0]["physicalLocation"]["region"] == {"startLine": 1}


def test_sarif_says_what_json_says(project: Project, trainlint: Trainlint) -> None:
    project(
        {
            "a.py": "if x:\n    tl101(\n        x)\n",
            "b.py": "reason()\ntl301_warning()  # trainlint: ignore\ntl101_info()\n",
        }
    )
    run = sarif_of(report(trainlint, "sarif", "--select", "ALL").stdout)
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["TL101", "TL301"]
    assert [rule["help"]["markdown"] for rule in rules] == [page("TL101"), page("TL301")]
    assert rules[0]["defaultConfiguration"] == {"level": "error"}
    assert rules[0]["fullDescription"]["text"].startswith("Probabilities reach a loss")
    first, silenced, advice = run["results"]
    assert [one["level"] for one in run["results"]] == ["error", "warning", "note"]
    assert rules[first["ruleIndex"]]["id"] == first["ruleId"] == "TL101"
    physical = first["locations"][0]["physicalLocation"]
    assert physical["artifactLocation"]["uri"] == "a.py"
    assert physical["region"] == {"startLine": 2, "startColumn": 5, "endLine": 3, "endColumn": 11}
    assert physical["contextRegion"]["snippet"]["text"] == "    tl101(\n        x)"
    [related] = first["relatedLocations"]
    assert related["message"]["text"] == "this is why"
    assert related["physicalLocation"]["artifactLocation"]["uri"] == "b.py"
    assert silenced["suppressions"] == [{"kind": "inSource"}]
    assert "suppressions" not in advice


FIXABLE = """\
import torch
from torch.cuda.amp import autocast

é = "模"; model = torch.nn.Linear(2, 2)
with autocast():
    model(torch.ones(1, 2))
"""


def test_the_fixes_in_sarif_are_those_that_are_made(project: Project) -> None:
    root = project({"a.py": FIXABLE})
    command = [sys.executable, "-m", "trainlint", "check", "--no-cache", "--select", "TL401"]
    ran = subprocess.run(
        [*command, "--output-format", "sarif"], env=OWN, capture_output=True, text=True, check=False
    )
    fixes = [fix for result in sarif_of(ran.stdout)["results"] for fix in result.get("fixes", ())]
    assert fixes
    lines = FIXABLE.splitlines(keepends=True)
    replacements = {
        json.dumps(one["deletedRegion"], sort_keys=True): one
        for fix in fixes
        for change in fix["artifactChanges"]
        for one in change["replacements"]
    }
    for one in sorted(replacements.values(), key=lambda one: -offset(lines, one["deletedRegion"], "start")):
        text = "".join(lines)
        first, last = (offset(lines, one["deletedRegion"], side) for side in ("start", "end"))
        lines = (text[:first] + one["insertedContent"]["text"] + text[last:]).splitlines(keepends=True)
    subprocess.run([*command, "--fix", "--unsafe-fixes"], env=OWN, capture_output=True, check=False)
    assert (root / "a.py").read_text() == "".join(lines) != FIXABLE


def offset(lines: Sequence[str], region: dict[str, int], side: str) -> int:
    before = lines[: region[f"{side}Line"] - 1]
    return sum(map(len, before)) + region[f"{side}Column"] - 1


def test_sarif_without_findings(project: Project, trainlint: Trainlint) -> None:
    project({"a.py": "x = 1\n"})
    run = sarif_of(trainlint("check", "--output-format", "sarif").stdout)
    assert (run["results"], run["tool"]["driver"]["rules"]) == ([], [])
    assert run["invocations"][0]["executionSuccessful"]


def test_paths_elsewhere_are_whole_in_sarif(
    project: Project, trainlint: Trainlint, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = project({"here/x.txt": "", "there/a b.py": "tl101()\n"})
    monkeypatch.chdir(root / "here")
    run = sarif_of(report(trainlint, "sarif", "../there").stdout)
    place = run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert place == {"uri": (root / "there/a b.py").as_uri()}


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


def test_an_error_is_one_line_without_control_characters(project: Project, trainlint: Trainlint) -> None:
    project({"a.py": ""})
    said = trainlint("check", "\x1b[31mnone\n::error::\r.py").stderr
    assert said == "error: \\x1b[31mnone\\n::error::\\r.py: no such file or folder\n"


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


def test_junit_of_hostile_names(hostile: Trainlint) -> None:
    text = report(hostile, "junit").stdout
    [suite] = JUnitXml.fromstring(text.encode())
    assert (suite.tests, suite.failures, suite.errors) == (len(FILES) + 1, len(FILES), 1)
    shown = {case.classname for case in suite}
    assert {"<b>&amp;'\".py", "new\\nline\\r.py", "]]>.py", "é模.py", "latin\\udce9.py"} <= shown


def test_junit(project: Project, trainlint: Trainlint) -> None:
    project({"a.py": "x = tl101()\ntl101()  # trainlint: ignore\n", "b.py": "x\n("})
    text = report(trainlint, "junit").stdout
    [suite] = JUnitXml.fromstring(text.encode())
    failed, broken = suite
    assert failed.name == "TL101 softmax-before-cross-entropy at a.py:1:5"
    [failure] = failed.result
    assert isinstance(failure, Failure)
    assert (failure.message, failure.type) == ("this is wrong", "error")
    assert "1 | x = tl101()\n  |     ^^^^^^^" in str(failure.text)
    [error] = broken.result
    assert isinstance(error, Error)
    assert error.message == "is not valid Python"
    places = [(case.get("file"), case.get("line")) for case in ElementTree.fromstring(text).iter("testcase")]
    assert places == [("a.py", "1"), ("b.py", "2")]


def test_junit_has_a_test_that_passes_where_nothing_is_found(project: Project, trainlint: Trainlint) -> None:
    project({"a.py": "x = 1\n"})
    [suite] = JUnitXml.fromstring(trainlint("check", "--output-format", "junit").stdout.encode())
    assert [(case.name, case.is_passed) for case in suite] == [("nothing found", True)]


@pytest.mark.parametrize("output_format", DOCUMENTS)
def test_statistics_are_for_people(project: Project, trainlint: Trainlint, output_format: str) -> None:
    project({"a.py": "tl101()"})
    outcome = trainlint("check", "--statistics", "--output-format", output_format)
    assert (outcome.exit_code, outcome.stdout) == (2, "")
    assert f"--output-format {output_format}" in outcome.stderr


def test_markdown_of_hostile_names(hostile: Trainlint) -> None:
    text = report(hostile, "markdown").stdout
    page = MarkdownIt().enable(["table", "strikethrough"]).render(text)
    assert re.findall(r"<(?!/?(?:h2|p|table|thead|tbody|tr|th|td|code|ul|li)\b)[^>]*>", page.replace("<br />", "")) == [
        "<details>", "<summary>", "</summary>", "</details>",
    ]  # fmt: skip
    assert page.count("<tr>") == 2 + 1 + len(FILES)
    assert not [line for line in text.splitlines() if line.startswith("::")]


def test_markdown_folds_many_and_lists_no_more_than_fit(project: Project, trainlint: Trainlint) -> None:
    project({"a.py": "tl301_warning()\n" + "tl101()\n" * 9})
    few = report(trainlint, "markdown").stdout
    assert "<details>" not in few
    assert re.findall(r"^\| (TL\d+) .* \| (\d+) \|$", few, re.MULTILINE) == [("TL101", "9"), ("TL301", "1")]
    project({"a.py": "tl101()\n" * 201})
    many = report(trainlint, "markdown").stdout
    assert "<details><summary>201 findings</summary>" in many
    assert len(re.findall(r"^\| a\.py:", many, re.MULTILINE)) == 200
    assert "1 more are not listed." in many


def test_rdjson_counts_columns_in_bytes(project: Project, trainlint: Trainlint) -> None:
    project({"a.py": "é = '模'; tl101()\n", "b.py": "reason()\n"})
    [found] = json.loads(report(trainlint, "rdjson").stdout)["diagnostics"]
    assert found["location"]["range"] == {
        "start": {"line": 1, "column": 13},
        "end": {"line": 1, "column": 20},
    }
    assert found["severity"] == "ERROR"
    assert found["code"] == {"value": "TL101"}
    assert found["related_locations"][0]["location"]["path"] == "b.py"


def test_rdjson_suggests_fixes_of_one_edit(project: Project) -> None:
    model = "import torch\nmodel = torch.nn.Linear(2, 2)\n"
    project({"a.py": f"{model}model.forward(torch.randn(2, 2)).sum().backward()\n"})
    ran = CliRunner().invoke(app, ["check", "--no-cache", "--select", "TL903", "--output-format", "rdjson"])
    [found] = json.loads(ran.stdout)["diagnostics"]
    [fix] = found["suggestions"]
    line = "model.forward(torch.randn(2, 2)).sum().backward()"
    start, end = (fix["range"][one]["column"] - 1 for one in ("start", "end"))
    assert line[:start] + fix["text"] + line[end:] == "model(torch.randn(2, 2)).sum().backward()"
    project({"a.py": f"{model}x = (\n"})
    [wrong] = json.loads(CliRunner().invoke(app, ["check", "--output-format", "rdjson"]).stdout)[
        "diagnostics"
    ]
    assert wrong["location"] == {"path": "a.py", "range": {"start": {"line": 3}}}


def test_rdjson_names_lines_alone_in_notebooks(project: Project) -> None:
    source = [
        "import torch\n",
        "model = torch.nn.Linear(2, 2)\n",
        "model.forward(torch.randn(2, 2)).sum().backward()",
    ]
    cell: dict[str, Any] = {
        "cell_type": "code",
        "metadata": {},
        "outputs": [],
        "execution_count": None,
        "source": source,
    }
    root = project(
        {
            "a.ipynb": json.dumps(
                {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1
            )
        }
    )
    ran = CliRunner().invoke(app, ["check", "--no-cache", "--select", "TL903", "--output-format", "rdjson"])
    [found] = json.loads(ran.stdout)["diagnostics"]
    line = found["location"]["range"]["start"]["line"]
    assert found["location"]["range"] == {"start": {"line": line}}
    assert "model.forward" in (root / "a.ipynb").read_text().splitlines()[line - 1]
    assert "suggestions" not in found
