"""Cells of all kinds: magics, other languages, odd text, broken ones."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest
from IPython.core.inputtransformer2 import TransformerManager

from tests.fixing import Check
from tests.notebook_programs import OLD, TRAINS, errors, found
from tests.notebooks import notebook

IPYTHON = TransformerManager()  # type: ignore[no-untyped-call]


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
        ("x = %time torch.autograd.Variable(torch.ones(2), volatile=True)", 11),
        ("%time x = torch.autograd.Variable(torch.ones(2), volatile=True)", 11),
        ("%timeit -n 3 torch.autograd.Variable(torch.ones(2), volatile=True)", 14),
        ("  x = torch.autograd.Variable(torch.ones(2), volatile=True)", 7),
        (">>> x = torch.autograd.Variable(torch.ones(2), volatile=True)", 9),
    ],
)
def test_columns_are_those_of_the_cell(check: Check, source: str, column: int) -> None:
    Path("nb.ipynb").write_text(notebook(TRAINS, source))
    [one] = check("--output-format", "json", "nb.ipynb").findings
    assert (one["cell"], one["line"], one["column"], one["end_column"]) == (2, 1, column, column + 53)
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
