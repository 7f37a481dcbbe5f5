"""Fixes in notebooks: the sources of the cells that change, and not a byte beside them."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator, FormatChecker

from tests.fixing import Check, Ran
from tests.notebooks import FORMATS, library, notebook, with_sources_as

TRAINS = "import torch\nloss = torch.nn.MSELoss()"
OLD = "x = torch.autograd.Variable(torch.ones(2), volatile=True)"
NEW = "x = torch.ones(2)"
SARIF = json.loads((Path(__file__).parent / "schemas/sarif-2.1.0.json").read_text())
WRAPPED, BARE = b"torch.autograd.Variable(torch.ones(2), volatile=True)", b"torch.ones(2)"


def sources(path: str = "nb.ipynb") -> list[str]:
    return ["".join(cell["source"]) for cell in json.loads(Path(path).read_text(encoding="utf-8"))["cells"]]


def fix(check: Check, *cells: str, options: tuple[str, ...] = ()) -> list[str]:
    """The sources of a notebook's cells after its fixes; a second run leaves it as it is, and it stays valid."""
    Path("nb.ipynb").write_text(notebook(*cells))
    check("--fix", *options, "nb.ipynb")
    once = Path("nb.ipynb").read_bytes()
    check("--fix", *options, "nb.ipynb")
    assert Path("nb.ipynb").read_bytes() == once
    library.validate(library.reads(once.decode(), as_version=4))
    return sources()


def test_the_last_expression_of_a_cell(check: Check) -> None:
    assert fix(check, TRAINS, OLD.removeprefix("x = ")) == [TRAINS, NEW.removeprefix("x = ")]


@pytest.mark.parametrize("kind", [str, list])
@pytest.mark.parametrize("version", FORMATS, ids=lambda version: f"{version[0]}.{version[1]}")
def test_all_else_stays_in_every_format(
    check: Check, version: tuple[int, int], kind: type[str] | type[list[str]]
) -> None:
    cells = (("markdown", OLD), TRAINS, f"%matplotlib inline\n{OLD}\nprint('é')", f"%%bash\n{OLD}", "")
    before = with_sources_as(notebook(*cells, version=version), kind).encode()
    parts = before.split(WRAPPED)
    after = WRAPPED.join(parts[:2]) + BARE + WRAPPED.join(parts[2:])
    Path("nb.ipynb").write_bytes(before)
    assert check("--fix", "nb.ipynb").code == 0
    assert Path("nb.ipynb").read_bytes() == after


def _written(**how: Any) -> bytes:
    document = json.loads(notebook(TRAINS, f"# é 🙂\n{OLD}\ny = 2\n", OLD))
    document["cells"][1]["metadata"] = {"z": 1.50, "a": {"<": "é"}, "b": [1e400, True]}
    return json.dumps(document, **how).encode()


@pytest.mark.parametrize(
    "before",
    [
        pytest.param(_written(indent=1), id="escaped"),
        pytest.param(_written(indent=1, ensure_ascii=False), id="plain"),
        pytest.param(
            with_sources_as(notebook(TRAINS, f"s = 'é@'\n{OLD}"), str).replace("@", "\\udead").encode(),
            id="half-a-character",
        ),
        pytest.param(_written(indent=4, sort_keys=True), id="sorted"),
        pytest.param(_written(indent="\t"), id="tabs"),
        pytest.param(_written(), id="one-line"),
        pytest.param(_written(separators=(",", ":")), id="dense"),
        pytest.param(_written(indent=1) + b"\n\n", id="newlines"),
        pytest.param(_written(indent=1).replace(b"\n", b"\r\n"), id="crlf"),
        pytest.param(b"\xef\xbb\xbf" + _written(indent=1, ensure_ascii=False), id="byte-order-mark"),
    ],
)
def test_the_layout_of_the_json_stays(check: Check, before: bytes) -> None:
    Path("nb.ipynb").write_bytes(before)
    assert check("--fix", "nb.ipynb").code == 0
    assert Path("nb.ipynb").read_bytes() == before.replace(WRAPPED, BARE)


def test_mode_stays_and_what_is_read_only_is_left(check: Check) -> None:
    for name, mode in (("a.ipynb", 0o640), ("b.ipynb", 0o444)):
        Path(name).write_text(notebook(TRAINS, OLD))
        Path(name).chmod(mode)
    ran = check("--fix", ".")
    assert sources("a.ipynb") == [TRAINS, NEW]
    assert stat.S_IMODE(Path("a.ipynb").stat().st_mode) == 0o640
    assert sources("b.ipynb") == [TRAINS, OLD]
    assert "b.ipynb: is not fixed: it is read-only" in ran.stderr


def test_lines_go_and_lines_come(check: Check) -> None:
    cells = fix(
        check,
        "%matplotlib inline\nfrom torch.cuda.amp import autocast, GradScaler\nfrom torch import nn",
        "model = nn.Linear(2, 2).cuda()\nscaler = GradScaler()",
        "for x in loader:\n    x = torch.autograd.Variable(x, volatile=True)\n    with autocast():\n        model(x).sum().backward()",
        options=("--unsafe-fixes",),
    )
    assert cells[0].startswith("%matplotlib inline\nimport torch\nfrom torch.cuda.amp import")
    assert 'scaler = torch.amp.GradScaler("cuda")' in cells[1]
    assert 'with torch.amp.autocast("cuda"):' in cells[2]


def test_a_statement_is_added_at_the_end_of_its_cell(check: Check) -> None:
    model = (
        "import torch\nmodel = torch.nn.Linear(2, 2)\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)"
    )
    loop = "for x in range(3):\n    model(torch.ones(2, 2)).sum().backward()\n    optimizer.step()"
    after = "print('done')"
    cells = fix(check, model, loop, "%%bash\nls", after, options=("--unsafe-fixes",))
    assert cells[1] == f"{loop}\n    optimizer.zero_grad()"
    assert cells[2:] == ["%%bash\nls", after]


def test_what_becomes_idle_goes_from_its_own_cell(check: Check) -> None:
    wrap = "x = torch.ones(2)\nx = torch.autograd.Variable(x, volatile=True)\ny = x"
    assert fix(check, TRAINS, "x = 1\nx = x", wrap, wrap) == [
        TRAINS,
        "x = 1\nx = x",
        "x = torch.ones(2)\ny = x",
        "x = torch.ones(2)\ny = x",
    ]


@pytest.mark.parametrize(
    "source",
    [
        f"%time {OLD}",
        "x = %time torch.autograd.Variable(torch.ones(2), volatile=True)",
        "x = torch.autograd.Variable(\n    torch.ones(2), volatile=True)  # '\ud83d'".encode(
            "utf-8", "surrogatepass"
        ).decode("utf-8", "replace"),
        f"  {OLD}\n  y = 1",
        f">>> {OLD}",
    ],
)
def test_what_is_not_python_as_it_stands_is_left(check: Check, source: str) -> None:
    Path("nb.ipynb").write_text(notebook(TRAINS, source, OLD))
    ran = check("--fix", "nb.ipynb")
    assert "is not fixed" not in ran.stderr
    assert sources()[2] == NEW


def test_magics_beside_a_fix_stay(check: Check) -> None:
    cells = fix(
        check, TRAINS, f"!ls -l | wc\n%time y = 1\n{OLD}\nfiles = !ls\nx?\n%cd ..\n", f"%%time\n{OLD}"
    )
    assert cells[1:] == [f"!ls -l | wc\n%time y = 1\n{NEW}\nfiles = !ls\nx?\n%cd ..\n", f"%%time\n{NEW}"]


def test_a_broken_cell_and_await_do_not_stand_in_the_way(check: Check) -> None:
    Path("nb.ipynb").write_text(notebook(TRAINS, "def (", f"await train()\n{OLD}"))
    ran = check("--fix", "nb.ipynb")
    assert ran.code == 2
    assert sources() == [TRAINS, "def (", f"await train()\n{NEW}"]


def test_a_notebook_that_cannot_be_read_is_left(check: Check) -> None:
    broken = notebook(TRAINS, OLD)[:-30]
    Path("nb.ipynb").write_text(broken)
    assert check("--fix", "nb.ipynb").code == 2
    assert Path("nb.ipynb").read_text() == broken


def test_the_difference_is_shown_for_each_cell(check: Check) -> None:
    text = notebook(("markdown", "a"), TRAINS, f"y = 1\n{OLD}", "z = 2", OLD)
    Path("nb.ipynb").write_text(text)
    ran = check("--diff", "nb.ipynb")
    assert ran == Ran(
        1,
        f"""--- nb.ipynb:cell 3
+++ nb.ipynb:cell 3
@@ -1,2 +1,2 @@
 y = 1
-{OLD}
+{NEW}
--- nb.ipynb:cell 5
+++ nb.ipynb:cell 5
@@ -1 +1 @@
-{OLD}
+{NEW}
""".encode(),
        "Would fix 2 in 1 file.\n",
    )
    assert Path("nb.ipynb").read_text() == text


def test_standard_input(check: Check) -> None:
    before = notebook(TRAINS, OLD).encode()
    ran = check("--fix", "--stdin-filename", "nb.ipynb", "-", stdin=before)
    assert ran.stdout == before.replace(WRAPPED, BARE)


def test_edits_are_told_by_cell(check: Check) -> None:
    Path("nb.ipynb").write_text(notebook(TRAINS, f"y = 1\n{OLD}"))
    [finding] = check("--output-format", "json", "nb.ipynb").findings
    [edit] = finding["fix"]["edits"]
    assert (edit["cell"], edit["line"], edit["end_line"]) == (2, 2, 2)
    kept = OLD[: edit["column"] - 1] + edit["replacement"] + OLD[edit["end_column"] - 1 :]
    assert kept.startswith("x = torch.ones(2)") or finding["fix"]["edits"]


LOOP = "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\nfor x in range(3):\n    model(torch.ones(2, 2)).sum().backward()\n    optimizer.step()"
ONE_FIX = {
    "one-line": ("TL209", f"é = '🙂'\n{OLD}\ny = 2"),
    "last-line-goes": (
        "TL209",
        "x = torch.ones(2)  # é\ny = x\nx = torch.autograd.Variable(x, volatile=True)",
    ),
    "first-line-goes": ("TL209", "x = torch.autograd.Variable(x, volatile=True)\ny = x\n"),
    "lines-come": ("TL301", LOOP),
    "lines-move-in": ("TL312", "model.eval()\nfor y in range(3):\n    print(model(torch.ones(2, 2)))"),
    "two-cells": (
        "TL401",
        "from torch import nn, cuda\n\nmodel = nn.Linear(2, 2).cuda()\n",
        "with cuda.amp.autocast():\n    model(1)",
    ),
}


@pytest.mark.parametrize("kind", [str, list])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("name", ONE_FIX)
def test_what_sarif_says_is_what_is_done(
    check: Check, name: str, kind: type[str] | type[list[str]], line_end: str
) -> None:
    code, *cells = ONE_FIX[name]
    if name != "two-cells":
        cells = [f"{TRAINS}\nmodel = torch.nn.Linear(2, 2)\nx = torch.ones(2)", *cells]
    text = with_sources_as(notebook(("markdown", "é"), *cells, "print(1)"), kind).replace("\n", line_end)
    Path("nb.ipynb").write_bytes(text.encode())
    document = json.loads(check("--select", code, "--output-format", "sarif", "nb.ipynb").stdout)
    Draft7Validator(SARIF, format_checker=FormatChecker()).validate(document)
    [result] = document["runs"][0]["results"]
    check("--select", code, "--fix", "--unsafe-fixes", "nb.ipynb")
    assert (
        _with_replacements(text, result["fixes"]).encode() == Path("nb.ipynb").read_bytes() != text.encode()
    )


def _with_replacements(text: str, fixes: list[Any]) -> str:
    """A file as a reader of SARIF makes it, who knows nothing of notebooks."""
    lines = text.splitlines(keepends=True)
    starts = [sum(map(len, lines[:number])) for number in range(len(lines))]
    [fix] = fixes
    [change] = fix["artifactChanges"]
    assert change["artifactLocation"]["uri"] == "nb.ipynb"
    for one in sorted(change["replacements"], key=lambda one: -one["deletedRegion"]["startLine"]):
        region = one["deletedRegion"]
        start = starts[region["startLine"] - 1] + region["startColumn"] - 1
        end = starts[region["endLine"] - 1] + region["endColumn"] - 1
        text = text[:start] + one["insertedContent"]["text"] + text[end:]
    return text
