"""Notebooks are read as one program; what is found in them is told by cell and line."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from IPython.core.inputtransformer2 import TransformerManager
from jsonschema import Draft7Validator, FormatChecker
from junitparser import JUnitXml
from typer.testing import CliRunner

from tests.fixing import Check
from tests.notebooks import FORMATS, Cell, notebook, with_sources_as
from trainlint.cli.app import app
from trainlint.program.incremental import groups

SCHEMA = json.loads((Path(__file__).parent / "schemas/sarif-2.1.0.json").read_text())
MODEL = """import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)

    def forward(self, x):
        return torch.softmax(self.fc(x), dim=-1)"""
LOSS = "criterion = nn.CrossEntropyLoss()"
LOOP = """model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in [(torch.ones(2, 4), torch.tensor([0, 1]))]:
    optimizer.zero_grad()
    criterion(model(x), y).backward()
    optimizer.step()"""
SOFTMAX = "torch.softmax(self.fc(x), dim=-1)"
IPYTHON = TransformerManager()  # type: ignore[no-untyped-call]
OLD = "x = torch.autograd.Variable(torch.ones(2))"
"""One finding, TL209, wherever it stands below `import torch`."""
TRAINS = "import torch\nloss = torch.nn.MSELoss()"


def found(check: Check, *arguments: str) -> list[tuple[str, int | None, int]]:
    """Code, cell and line of each finding."""
    ran = check("--output-format", "json", *arguments)
    return [(one["code"], one["cell"], one["line"]) for one in ran.findings]


def errors(check: Check, *arguments: str) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = json.loads(check("--output-format", "json", *arguments).stdout)["errors"]
    return listed


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


@pytest.mark.parametrize(
    ("cell", "lines"),
    [
        ("x.clamp(0)", []),
        ("x.clamp(0)  # look; twice", []),
        ("(x.clamp(0)\n)", []),
        ("x.clamp(0)\nx.clamp(1)", [1]),
        ("x.clamp(0);", [1]),
        ("(x.clamp(0)) ;", [1]),
        ("for _ in range(3):\n    x.clamp(0)", [2]),
    ],
)
def test_what_a_cell_shows_at_its_end_is_not_thrown_away(check: Check, cell: str, lines: list[int]) -> None:
    Path("nb.ipynb").write_text(notebook(TRAINS, "x = torch.ones(2)", cell, "x.clamp(2)\nx.sum()"))
    assert found(check, "nb.ipynb") == [*(("TL215", 3, line) for line in lines), ("TL215", 4, 1)]


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


MAGICS = [
    "%matplotlib inline",
    "%config InlineBackend.figure_format = 'retina'",
    "!pip install torch",
    "!pip install torch \\\n    torchvision \\\n    'd2l==1.0'",
    "!!ls -l",
    '!echo "it\'s" (unbalanced',
    "files = !ls *.py",
    "here = %pwd",
    "first, second = !ls",
    "box['a'] = %pwd",
    "%time train()",
    "%timeit -n 10 -r 3 sum(range(3))",
    "%%timeit n = 3\nsum(range(n))",
    "%%capture\n%%time\ny = 1",
    "value = %time sum([1])",
    "%time for i in range(3): i",
    "%prun -l 5 sum([1])",
    "if True:\n    !ls\n    %cd ..\nelse:\n    files = !ls",
    "for i in range(3):\n\t%time sum([1])",
    "len?",
    "?len",
    "len??",
    "torch.nn.*Loss?",
    "%time?",
    "%%time?",
    "box[0]?",
    "/sum [1]",
    ",print a b",
    ";print a b",
    "text = '''\n%not a magic\n!nor this\n'''",
    "total = (10\n    % 3)",
    "total = 10 \\\n% 3",
    'print("a = %d" % 3)  # why?',
    'print("really?")',
    "x = 1  # what?",
    "n %= 3",
    "print(3 != 4)",
    "await asyncio.sleep(0)",
    "async with lock:\n    pass",
    "  indented = 1\n  again = 2",
    "  # a comment\n  indented = 1",
    ">>> prompted = 1\n>>> if prompted:\n...     prompted = 2\n2",
    "@decorator\n# comment\ndef f():\n    pass",
    "%%writefile model.py\nimport (",
    "%%bash\nfor i in *; do echo $i; done",
    "%%html\n<b>",
    "%%javascript\nvar x = {",
    "%%nobody_knows --this\nx = ?",
]


@pytest.mark.parametrize("source", MAGICS)
def test_what_ipython_understands_is_no_error_and_moves_no_line(check: Check, source: str) -> None:
    ast.parse(IPYTHON.transform_cell(source))
    below = f"{source}\n{OLD}" if not source.startswith("%%") else source
    Path("nb.ipynb").write_text(notebook(TRAINS, below, OLD))
    assert errors(check, "nb.ipynb") == []
    lines = [(cell, line) for code, cell, line in found(check, "nb.ipynb") if code == "TL209"]
    own = [] if source.startswith("%%") else [(2, below.count("\n") + 1)]
    if not source.startswith((" ", ">>>")):  # there, the line below is no part of the block
        assert lines == [*own, (3, 1)]


@pytest.mark.parametrize("line", ["pip install torch", "cd data", "load_ext autoreload", "matplotlib inline"])
def test_magics_that_ipython_completes_by_itself(check: Check, line: str) -> None:
    Path("nb.ipynb").write_text(notebook(TRAINS, f"{line}\n{OLD}"))
    assert errors(check, "nb.ipynb") == []
    assert found(check, "nb.ipynb") == [("TL209", 2, 2)]


@pytest.mark.parametrize(
    ("source", "column"),
    [
        ("x = %time torch.autograd.Variable(torch.ones(2))", 11),
        ("%time x = torch.autograd.Variable(torch.ones(2))", 11),
        ("%timeit -n 3 torch.autograd.Variable(torch.ones(2))", 14),
        ("  x = torch.autograd.Variable(torch.ones(2))", 7),
        (">>> x = torch.autograd.Variable(torch.ones(2))", 9),
    ],
)
def test_columns_are_those_of_the_cell(check: Check, source: str, column: int) -> None:
    Path("nb.ipynb").write_text(notebook(TRAINS, source))
    [one] = check("--output-format", "json", "nb.ipynb").findings
    assert (one["cell"], one["line"], one["column"], one["end_column"]) == (2, 1, column, column + 38)
    assert source in check("nb.ipynb").stdout.decode()


def test_cells_that_another_program_runs_are_skipped(check: Check) -> None:
    cells = [
        f"%%{magic}\n{OLD}"
        for magic in ("bash", "writefile a.py", "python3", "script x", "time", "capture out")
    ]
    Path("nb.ipynb").write_text(notebook(TRAINS, *cells))
    assert found(check, "nb.ipynb") == [("TL209", 6, 2), ("TL209", 7, 2)]


def test_cells_of_other_languages_are_skipped(check: Check) -> None:
    document = json.loads(notebook(TRAINS, f"SELECT {OLD}"))
    document["cells"][1]["metadata"]["vscode"] = {"languageId": "sql"}
    Path("nb.ipynb").write_text(json.dumps(document))
    assert check("nb.ipynb").code == 0


@pytest.mark.parametrize("kernel", ["R", "julia", "bash", "scala"])
def test_notebooks_of_other_languages_are_skipped(check: Check, kernel: str) -> None:
    Path("nb.ipynb").write_text(notebook("library(torch)\nx <- 1 %>% f", kernel=kernel))
    ran = check("nb.ipynb")
    assert (ran.code, ran.stdout, ran.stderr) == (0, b"Found nothing in 1 file.\n", "")


def test_the_kernel_tells_the_language_where_nothing_else_does(check: Check) -> None:
    for name, errors_expected in (("ir", 0), ("julia-1.10", 0), ("irene", 1), ("conda-env-torch-py", 1)):
        document = json.loads(notebook("x <- 1 %>% f"))
        document["metadata"] = {"kernelspec": {"name": name, "display_name": name}}
        Path("nb.ipynb").write_text(json.dumps(document))
        assert len(errors(check, "nb.ipynb")) == errors_expected


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


def test_a_cell_with_a_syntax_error_is_an_error_and_the_rest_is_checked(check: Check) -> None:
    Path("nb.ipynb").write_text(notebook(TRAINS, "x = 1\nx = = 2", OLD, "def (", "if x:\n"))
    listed = errors(check, "nb.ipynb")
    assert [(one["path"], one["cell"], one["line"]) for one in listed] == [
        ("nb.ipynb", 2, 2),
        ("nb.ipynb", 4, 1),
        ("nb.ipynb", 5, 1),
    ]
    assert found(check, "nb.ipynb") == [("TL209", 3, 1)]
    assert "error: nb.ipynb:cell 2:2: syntax error: " in check("nb.ipynb").stderr


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


@pytest.mark.parametrize(
    ("before", "column"),
    [
        ("", 1),
        ("s = '🙂é'; ", 10),
        ("s = '\ud83d'; ", 10),
        ("s = '\u2028\x0c\x0b'; ", 12),
        ("# -*- coding: latin-1 -*-\ns = 'é'; ", 10),
        ("#é\r\n", 1),
        ("s = 1\r", 1),
        ("\x0c", 2),
    ],
)
@pytest.mark.parametrize("ascii_only", [True, False])
def test_odd_text(check: Check, before: str, column: int, ascii_only: bool) -> None:
    document = json.loads(notebook(TRAINS, "pass"))
    document["cells"][0], document["cells"][1] = document["cells"][1], document["cells"][0]
    document["cells"][0]["source"] = [TRAINS.replace("import", f"{before}import", 1) + "\n", OLD]
    raw = json.dumps(document, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    Path("nb.ipynb").write_bytes(raw)
    if not ascii_only and "\ud83d" in before:
        assert len(errors(check, "nb.ipynb")) == 1
        return
    line = 3 + len(before.replace("\r\n", "\n").replace("\r", "\n").split("\n")) - 1
    assert errors(check, "nb.ipynb") == []
    assert found(check, "nb.ipynb") == [("TL209", 1, line)]
    Path("nb.ipynb").write_bytes(b"\xef\xbb\xbf" + raw)
    assert found(check, "nb.ipynb") == [("TL209", 1, line)]


def test_a_nul_character_is_the_error_of_its_cell(check: Check) -> None:
    Path("nb.ipynb").write_text(notebook(TRAINS, "s = '\0'", OLD))
    assert [one["cell"] for one in errors(check, "nb.ipynb")] == [2]
    assert found(check, "nb.ipynb") == [("TL209", 3, 1)]


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
