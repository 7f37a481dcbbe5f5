"""Notebooks are read as one program; what is found in them is told by cell and line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from jsonschema import Draft7Validator, FormatChecker
from junitparser import JUnitXml
from typer.testing import CliRunner

from tests.fixing import Check
from tests.notebook_programs import LOOP, LOSS, MODEL, OLD, SCHEMA, SOFTMAX, TRAINS, errors, found
from tests.notebooks import FORMATS, Cell, notebook, with_sources_as
from trainlint.cli.app import app
from trainlint.program.incremental import groups


@pytest.mark.parametrize("kind", [str, list])
@pytest.mark.parametrize("version", FORMATS, ids=lambda version: f"{version[0]}.{version[1]}")
def test_a_finding_across_cells_in_every_format(
    check: Check, version: tuple[int, int], kind: type[str] | type[list[str]]
) -> None:
    text = notebook(("markdown", "# Train"), MODEL, "", LOSS, ("raw", "x"), LOOP, version=version)
    Path("nb.ipynb").write_text(with_sources_as(text, kind))
    [finding] = check("--output-format", "json", "nb.ipynb").findings
    places = [(one["cell"], one["line"], one["column"]) for one in (finding, *finding["because"])]
    assert finding["code"] == "TL101"
    assert places == [(2, 10, 16), (6, 5, 5), (4, 1, 13)]


def test_cells_are_counted_as_ruff_counts_them(check: Check) -> None:
    cells: list[Cell | str] = [
        ("markdown", "a"),
        TRAINS,
        "",
        "%%bash\nls",
        f"%%time\n\n{OLD}; undefined_1",
        ("raw", "b"),
        f"!ls\n{OLD}; undefined_2",
    ]
    Path("nb.ipynb").write_text(notebook(*cells))
    ran = subprocess.run(
        [
            sys.executable,
            "-m",
            "ruff",
            "check",
            "--isolated",
            "--select=F821",
            "--output-format=json",
            "nb.ipynb",
        ],
        capture_output=True,
        check=False,
    )
    by_ruff = [(one["cell"], one["location"]["row"]) for one in json.loads(ran.stdout)]
    assert by_ruff == [(5, 3), (7, 2)]
    assert [(cell, line) for _, cell, line in found(check, "nb.ipynb")] == by_ruff


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n",
        "\ufeff",
        notebook(),
        notebook(("markdown", "import (")),
        notebook("", "\n\n", "# only this"),
    ],
    ids=["unsaved", "blank", "byte-order-mark", "no-cells", "markdown", "empty-cells"],
)
def test_notebooks_without_code_are_clean(check: Check, text: str) -> None:
    Path("nb.ipynb").write_text(text)
    ran = check("nb.ipynb")
    assert (ran.code, ran.stdout, ran.stderr) == (0, b"Found nothing in 1 file.\n", "")


@pytest.mark.parametrize(
    ("raw", "line", "said"),
    [
        (notebook(TRAINS)[:-60].encode(), None, "is not valid JSON: "),
        (b'{\n "cells": [\n  <<<<<<< HEAD\n', 3, "is not valid JSON: Expecting"),
        (b'{"cells": []}\n{}', 2, "is not valid JSON: Extra data"),
        (b'{"cells": [}', 1, "is not valid JSON: Expecting value"),
        (b"[1]", None, "is JSON but not a notebook: it is not an object"),
        (b'{"nbformat": 4}', None, "is JSON but not a notebook: it has no cells"),
        (b'{"cells": 3}', 1, "is not a notebook: its `cells` is not a list"),
        (b'{"cells": ["x"]}', 1, "is not a notebook: a cell or a worksheet is not an object"),
        (b'{"cells": [{"cell_type": "code", "source": [1]}]}', None, "the source of cell 1 is not text"),
        (notebook("é = 1").encode("latin-1"), None, "is not UTF-8, which notebooks must be"),
        (notebook("x = 1").encode("utf-16"), None, "is not UTF-8, which notebooks must be"),
        (b'{"cells": ' + b"[" * 100_000, None, "is "),
    ],
)
def test_a_broken_notebook_is_an_error_and_the_rest_is_checked(
    check: Check, raw: bytes, line: int | None, said: str
) -> None:
    Path("a.ipynb").write_bytes(raw)
    Path("b.ipynb").write_text(notebook(TRAINS, OLD))
    [error] = errors(check, ".")
    assert (error["path"], error["cell"]) == ("a.ipynb", None)
    assert said in error["message"]
    assert line is None or error["line"] == line
    assert found(check, ".") == [("TL209", 2, 1)]
    assert check("a.ipynb").code == 2


def test_a_notebook_that_cannot_be_opened_is_an_error(check: Check) -> None:
    os.mkfifo("pipe.ipynb")
    [error] = errors(check, "pipe.ipynb")
    assert error["message"] == "cannot be read: not a file"


def test_what_is_shown(check: Check) -> None:
    Path("nb.ipynb").write_text(notebook(MODEL, f"%matplotlib inline\n{LOSS}", LOOP))
    shown = check("nb.ipynb").stdout.decode()
    assert (
        " --> nb.ipynb:cell 1:10:16\n   |\n10 |         return torch.softmax(self.fc(x), dim=-1)\n" in shown
    )
    assert " ::: nb.ipynb:cell 2:2:13\n   |\n 2 | criterion = nn.CrossEntropyLoss()\n" in shown
    concise = check("--output-format", "concise", "nb.ipynb").stdout.decode()
    assert concise.startswith("nb.ipynb:cell 1:10:16: error TL101 ")


def test_ignores(check: Check) -> None:
    ignored = f"{OLD}  # trainlint: ignore[TL209]"
    Path("nb.ipynb").write_text(notebook(TRAINS, ignored, OLD, "x = 1  # trainlint: ignore[TL209]"))
    ran = check("--output-format", "json", "nb.ipynb")
    listed = [(one["code"], one["cell"], one["line"], one["suppressed"]) for one in ran.findings]
    assert listed == [("TL209", 2, 1, True), ("TL209", 3, 1, False), ("TL000", 4, 1, False)]
    Path("nb.ipynb").write_text(notebook(TRAINS, OLD, "# trainlint: ignore-file[TL209]", OLD))
    assert check("nb.ipynb").code == 0
    Path("nb.ipynb").write_text(notebook(TRAINS, "%%bash\n# trainlint: ignore-file", OLD))
    assert found(check, "nb.ipynb") == [("TL209", 3, 1)]


def test_places_in_modules_that_a_notebook_imports(check: Check) -> None:
    Path("work").mkdir()
    Path("work/net.py").write_text(f"{MODEL}\n")
    Path("work/nb.ipynb").write_text(
        notebook("import torch\nfrom torch import nn\nfrom net import Net", LOSS, LOOP)
    )
    [finding] = check("--output-format", "json", "work").findings
    assert (finding["path"], finding["cell"], finding["line"]) == ("work/net.py", None, 10)
    because = [(one["path"], one["cell"], one["line"]) for one in finding["because"]]
    assert because == [("work/nb.ipynb", 3, 5), ("work/nb.ipynb", 2, 1)]


def test_standard_input(check: Check) -> None:
    ran = check("--stdin-filename", "deep/nb.ipynb", "-", stdin=notebook(TRAINS, OLD).encode())
    assert b"--> deep/nb.ipynb:cell 2:1:5" in ran.stdout


def test_folders_are_searched_and_checkpoints_are_not(check: Check) -> None:
    for name in (
        "a.ipynb",
        "deep/b.ipynb",
        ".ipynb_checkpoints/a-checkpoint.ipynb",
        "c.ipynb.bak",
        "ignored.ipynb",
    ):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(notebook(TRAINS, OLD))
    Path(".gitignore").write_text("ignored.ipynb\n")
    Path(".git").mkdir()
    ran = check("--output-format", "json", ".")
    assert [one["path"] for one in ran.findings] == ["a.ipynb", "deep/b.ipynb"]


def test_the_cache_holds_notebooks(check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    def cached() -> list[tuple[int, int]]:
        ran = CliRunner().invoke(app, ["check", "--output-format", "json", "nb.ipynb"])
        return [(one["cell"], one["line"]) for one in json.loads(ran.stdout)["findings"]]

    Path("nb.ipynb").write_text(notebook(TRAINS, OLD))
    assert cached() == [(2, 1)]
    with monkeypatch.context() as nothing_is_read:
        nothing_is_read.delattr(groups, "check_program")
        assert cached() == [(2, 1)]
        document = json.loads(Path("nb.ipynb").read_text())
        document["cells"].insert(0, {"cell_type": "markdown", "metadata": {}, "id": "a", "source": "It ran."})
        document["cells"][2]["outputs"] = []
        Path("nb.ipynb").write_text(json.dumps(document))
        assert cached() == [(3, 1)], "its program has not changed"
    Path("nb.ipynb").write_text(notebook(TRAINS, f"y = 1\n{OLD}"))
    assert cached() == [(2, 2)]


def test_a_pool_of_processes_reads_notebooks(check: Check) -> None:
    filler = "\n".join(f"v{number} = {number}" for number in range(6_000))
    for number in range(6):
        Path(f"{number}.ipynb").write_text(notebook(TRAINS, filler, OLD))
    assert found(check, "--jobs", "2", ".") == [("TL209", 3, 1)] * 6


def test_a_baseline_survives_new_cells(check: Check) -> None:
    Path("nb.ipynb").write_text(notebook(TRAINS, OLD))
    assert check("--baseline", "known.json", "--write-baseline", "nb.ipynb").code == 0
    Path("nb.ipynb").write_text(notebook(("markdown", "new"), "y = 1", TRAINS, OLD, OLD.replace("x", "z")))
    ran = check("--baseline", "known.json", "--output-format", "json", "nb.ipynb")
    assert [one["cell"] for one in ran.findings] == [5]


def test_changed_only_knows_cells(check: Check) -> None:
    def git(*arguments: str) -> None:
        identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run(["git", *identity, *arguments], check=True, capture_output=True)

    git("init")
    text = notebook(TRAINS, OLD, f"y = 1\n{OLD}")
    Path("nb.ipynb").write_text(text)
    git("add", "nb.ipynb")
    git("commit", "-m", "first")
    assert found(check, "--changed-only", "HEAD", "nb.ipynb") == []
    Path("nb.ipynb").write_text(text.replace("y = 1", "y = 2"))
    assert found(check, "--changed-only", "HEAD", "nb.ipynb") == []
    Path("nb.ipynb").write_text(text.replace(f'y = 1\\n",\n    "{OLD}', f'y = 1\\n",\n    "w{OLD}'))
    assert found(check, "--changed-only", "HEAD", "nb.ipynb") == [("TL209", 3, 2)]


@pytest.mark.parametrize("kind", [str, list])
def test_formats_for_programs_point_into_the_file(check: Check, kind: type[str] | type[list[str]]) -> None:
    cells = [
        f"'\"é🙂\\\t'\n{MODEL}".replace("        return", "        'é🙂\"\\\t'; return"),
        LOSS,
        LOOP,
        "x = (",
    ]
    text = with_sources_as(notebook(*cells), kind)
    Path("nb.ipynb").write_text(text, encoding="utf-8")
    lines = text.split("\n")
    line = next(number for number, one in enumerate(lines, start=1) if SOFTMAX in one)
    column = lines[line - 1].index(SOFTMAX) + 1
    broken = next(number for number, one in enumerate(lines, start=1) if '"x = ("' in one)
    cell_line = MODEL.count("\n") + 2

    github = check("--output-format", "github", "nb.ipynb").stdout.decode()
    assert f"line={line},endLine={line},col={column},endColumn={column + len(SOFTMAX)}::" in github
    assert f"::nb.ipynb:cell 1:{cell_line}:" in github
    assert f",line={broken}::nb.ipynb:cell 4:1: " in github

    issue, failure = json.loads(check("--output-format", "gitlab", "nb.ipynb").stdout)
    assert issue["location"]["positions"] == {
        "begin": {"line": line, "column": column},
        "end": {"line": line, "column": column + len(SOFTMAX)},
    }
    assert issue["description"].startswith("TL101: cell 1: ")
    assert failure["location"]["positions"] == {"begin": {"line": broken}}
    assert failure["description"].startswith("could not be checked: cell 4: ")

    cases = [
        case
        for suite in JUnitXml.fromstring(check("--output-format", "junit", "nb.ipynb").stdout)
        for case in suite
    ]
    assert [case._elem.get("line") for case in cases] == [str(line), str(broken)]
    assert f"at nb.ipynb:cell 1:{cell_line}:" in cases[0].name
    assert f"{SOFTMAX}\n" in cases[0].result[0].text

    document = json.loads(check("--output-format", "sarif", "nb.ipynb").stdout)
    Draft7Validator(SCHEMA, format_checker=FormatChecker()).validate(document)
    [run] = document["runs"]
    [location] = run["results"][0]["locations"]
    assert location["physicalLocation"]["region"] == {
        "startLine": line,
        "startColumn": column,
        "endLine": line,
        "endColumn": column + len(SOFTMAX),
    }
    assert location["logicalLocations"][0]["name"] == "cell 1"
    [notification] = run["invocations"][0]["toolExecutionNotifications"]
    assert notification["locations"][0]["physicalLocation"]["region"] == {"startLine": broken}


def test_the_same_finding_keeps_its_name_when_cells_move(check: Check) -> None:
    def names() -> list[str]:
        issues = json.loads(check("--output-format", "gitlab", "nb.ipynb").stdout)
        return [one["fingerprint"] for one in issues]

    Path("nb.ipynb").write_text(notebook(TRAINS, OLD))
    before = names()
    Path("nb.ipynb").write_text(notebook(("markdown", "new"), "y = 1", TRAINS, OLD))
    assert names() == before
