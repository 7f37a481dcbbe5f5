"""In a real kernel of Jupyter: magics record a cell and check the notebook, and places are cells."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")
pytest.importorskip("torch")
nbformat = pytest.importorskip("nbformat")

MODEL = """\
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)

    def forward(self, x):
        return torch.softmax(self.fc(x), dim=-1)
"""
SETUP = """\
torch.manual_seed(0)
model = Net()
optimizer = torch.optim.Adam(model.parameters())
"""
LOOP = """\
for step in range(3):
    x = torch.randn(16, 8)
    loss = nn.functional.cross_entropy(model(x), x[:, :4].argmax(1))
    loss.backward()
    optimizer.step()
"""
RECORD = f"""\
from trainlint.trace import record
with record() as trace:
{"".join(f"    {line}" for line in LOOP.splitlines(keepends=True))}
trace.report()
"""


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, str]]:
    """What each cell shows, by type."""
    folder: Path = tmp_path_factory.mktemp("notebook")
    cells = [
        "%load_ext trainlint",
        MODEL,
        SETUP,
        f"%%trainlint --report step.html\n{LOOP}",
        "%trainlint_check",
        RECORD,
        "%%trainlint --steps many\n1",
        "%%trainlint\nraise ValueError('mine')",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(one) for one in cells])
    kernel = {"name": "python3", "display_name": "python3", "language": "python"}
    notebook.metadata["kernelspec"] = kernel
    client = nbclient.NotebookClient(
        notebook,
        timeout=240,
        kernel_name="python3",
        allow_errors=True,
        resources={"metadata": {"path": str(folder)}},
    )
    client.execute()
    assert (folder / "step.html").read_text().startswith("<!doctype html>")
    return [_shown(cell) for cell in notebook.cells]


def _shown(cell: Any) -> dict[str, str]:
    found: dict[str, str] = {}
    for one in cell.outputs:
        if one.output_type == "stream":
            found[one.name] = found.get(one.name, "") + one.text
        elif one.output_type == "error":
            found["error"] = f"{one.ename}: {one.evalue}"
        else:
            found.update(one.data)
    return found


def test_a_recorded_cell_says_where_in_the_notebook_it_is_wrong(outputs: list[dict[str, str]]) -> None:
    text = outputs[3]["text/plain"]
    assert "error[TL101]" in text and "error[TL301]" in text
    assert " --> notebook.ipynb:cell 2:10:16\n" in text
    assert "10 |         return torch.softmax(self.fc(x), dim=-1)\n" in text
    assert " --> notebook.ipynb:cell 4:6:5\n" in text
    assert " 6 |     optimizer.step()\n" in text or "6 |     optimizer.step()\n" in text
    assert "confirmed: " in text
    assert "Found 2 errors in 1 file (2 confirmed)." in text


def test_the_report_stands_in_the_notebook(outputs: list[dict[str, str]]) -> None:
    page = outputs[3]["text/html"]
    assert page.startswith('<pre class="trainlint"')
    assert "cell 2:10:16" in page


def test_the_cells_that_were_run_are_checked(outputs: list[dict[str, str]]) -> None:
    text = outputs[4]["text/plain"]
    assert "error[TL101]" in text and "error[TL301]" in text
    assert "notebook.ipynb:cell 2:10:16" in text and "notebook.ipynb:cell 4:6:5" in text
    assert "Found 2 errors in 1 file" in text


def test_a_block_that_is_recorded_names_its_cell(outputs: list[dict[str, str]]) -> None:
    text = outputs[5]["text/plain"]
    assert "notebook.ipynb:cell 2:10:16" in text and "notebook.ipynb:cell 6:7:9" in text
    assert "confirmed: " in text


def test_what_goes_wrong_in_a_cell_is_told_once(outputs: list[dict[str, str]]) -> None:
    assert "invalid int value: 'many'" in outputs[6]["stdout"]
    assert outputs[7] == {"error": "ValueError: mine"}


def test_outside_of_a_kernel_there_is_no_notebook() -> None:
    from trainlint.notebook.kernel import running

    assert "IPython" not in sys.modules or running() is None
