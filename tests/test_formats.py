"""Formats for programs: valid for those who read them, whatever stands in file names and in source."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import pytest
from junitparser import Error, Failure, JUnitXml
from markdown_it import MarkdownIt
from typer.testing import CliRunner

from tests.hostile_report import FILES, report
from trainlint.cli.app import app

if TYPE_CHECKING:
    from tests.conftest import Project, Trainlint

DOCUMENTS = ["json", "sarif", "gitlab", "junit", "github", "rdjson", "markdown"]


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


def test_an_error_is_one_line_without_control_characters(project: Project, trainlint: Trainlint) -> None:
    project({"a.py": ""})
    said = trainlint("check", "\x1b[31mnone\n::error::\r.py").stderr
    assert said == "error: \\x1b[31mnone\\n::error::\\r.py: no such file or folder\n"


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
