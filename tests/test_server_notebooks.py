"""`trainlint server`: notebooks, as a real client hands them over, cell by cell."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pytest
from lsprotocol import types

from tests.editor import ROOT, Editor, editor
from tests.warm import executable

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Project

pytestmark = pytest.mark.asyncio

NET = """\
import torch
from torch import nn

class Net(nn.Module):
    def forward(self, x):
        return torch.softmax(x, -1)"""
LOSS = "%time loss = 0\nmodel = Net()\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)"
LOOP = """\
for x, y in data:
    nn.CrossEntropyLoss()(model(x), y).backward()
    optimizer.step()"""
OLD = """\
from torch.cuda.amp import autocast

def train(model, loader, optimizer, criterion):
    for x, y in loader:
        optimizer.zero_grad()
        with autocast(dtype=torch.bfloat16):
            loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()"""
EVERYWHERE = types.Range(types.Position(0, 0), types.Position(10_000, 0))


def written(path: Path, cells: Sequence[str]) -> None:
    """Save a notebook as an editor does."""
    made: list[dict[str, object]] = [
        {"cell_type": "code", "source": one, "metadata": {}, "outputs": [], "execution_count": None}
        for one in cells
    ]
    path.write_text(json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}))


def marked(editing: Editor, cell: str, found: types.Diagnostic) -> str:
    line = editing.text(cell).splitlines()[found.range.start.line]
    return line[found.range.start.character : found.range.end.character]


async def test_cells_are_one_program(project: Project) -> None:
    async with editor(project({})) as editing:
        net, _, loss, loop = editing.open_notebook("train.ipynb", NET, "#md Training", LOSS, LOOP)
        (softmax,) = await editing.shows(net, "TL101")
        assert marked(editing, net, softmax) == "torch.softmax(x, -1)"
        reasons = [one.location for one in softmax.related_information or ()]
        assert {one.uri for one in reasons} == {loop}
        assert all(one.range.start.line == 1 for one in reasons)
        (step,) = await editing.shows(loop, "TL301")
        assert marked(editing, loop, step) == "optimizer.step()"
        await editing.shows(loss)
        hover = await editing.hover(net, softmax.range.start)
        assert hover is not None and hover.range == softmax.range
        assert await editing.hover(loss, softmax.range.start) is None


async def test_cells_that_change_come_go_and_move(project: Project) -> None:
    async with editor(project({})) as editing:
        net, _, loop = editing.open_notebook("train.ipynb", f"s = '🦙'\n{NET}", LOSS, LOOP)
        await editing.shows(net, "TL101")
        line = types.Position(6, 0), types.Position(6, len("        return torch.softmax("))
        editing.type_in_cell("train.ipynb", net, types.Range(*line), "        return (")
        await editing.shows(net)
        end = types.Position(6, len("        return (x, -1)"))
        editing.type_in_cell("train.ipynb", net, types.Range(types.Position(6, 15), end), "x.softmax(-1)")
        await editing.shows(net, "TL101")
        editing.put_cells("train.ipynb", 2, 1)
        await editing.shows(net)
        assert not await editing.shows_at_last(loop)
        *_, loop = editing.put_cells("train.ipynb", 2, 0, "import os", LOOP)
        await editing.shows(net, "TL101")
        await editing.shows(loop, "TL301")
        editing.close_notebook("train.ipynb")
        assert not await editing.shows_at_last(net)
        assert not await editing.shows_at_last(loop)


async def test_a_cell_that_cannot_be_read_counts_as_it_was(project: Project) -> None:
    async with editor(project({})) as editing:
        net, _, loop = editing.open_notebook("train.ipynb", NET, LOSS, LOOP)
        await editing.shows(loop, "TL301")
        editing.write_cell("train.ipynb", net, NET.replace("class", "x = (\nclass"))
        error, found = await editing.until(net, lambda found: len(found) == 2)
        assert error.code is None and "syntax error" in error.message
        assert marked(editing, net, found) == "torch.softmax(x, -1)"
        await editing.shows(loop, "TL301")
        editing.write_cell("train.ipynb", loop, LOOP.replace("nn", "optimizer.zero_grad(); nn"))
        await editing.shows(loop)  # the others are checked all the same
        editing.write_cell("train.ipynb", net, NET.replace("torch.softmax(x, -1)", "x"))
        await editing.shows(net)


async def test_a_cell_that_never_could_be_read(project: Project) -> None:
    async with editor(project({})) as editing:
        broken, net, *_ = editing.open_notebook("train.ipynb", "x = (", NET, LOSS, LOOP)
        (error,) = await editing.until(broken, bool)
        assert error.code is None and error.range.start.line == 0
        await editing.shows(net, "TL101")
        assert await editing.actions(net, EVERYWHERE)
        assert not await editing.actions(broken, EVERYWHERE)


@pytest.mark.parametrize("versioned", [True, False])
async def test_a_fix_does_what_check_does(project: Project, versioned: bool) -> None:
    folder = project({})
    async with editor(folder, versioned=versioned) as editing:
        first, old = editing.open_notebook("train.ipynb", "%matplotlib inline\nimport torch", OLD)
        (found,) = await editing.shows(old, "TL401")
        actions = await editing.actions(old, found.range)
        (fix,) = (one for one in actions.values() if one.is_preferred)
        after = editing.all_after(fix)
        (everything,) = (await editing.actions(old, EVERYWHERE, "source.fixAll")).values()
        assert editing.all_after(everything) == after
        assert not await editing.actions(first, EVERYWHERE, "source.fixAll")
        for cell, text in after.items():
            editing.write_cell("train.ipynb", cell, text)
        await editing.shows(old)
        cells = [editing.text(first), editing.text(old)]
    written(folder / "train.ipynb", ["%matplotlib inline\nimport torch", OLD])
    command = [*executable(), "-m", "trainlint", "check", "--no-cache", "--fix", "train.ipynb"]
    subprocess.run(command, cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=True)
    notebook = json.loads((folder / "train.ipynb").read_text())
    # what a fix leaves without a use is for the formatter of the editor
    assert [one["source"] for one in notebook["cells"]] == cells


async def test_ignoring_in_cells(project: Project) -> None:
    async with editor(project({})) as editing:
        magic, *_, loop = editing.open_notebook("train.ipynb", "%%time\nimport os", NET, LOSS, LOOP)
        (found,) = await editing.shows(loop, "TL301")
        actions = await editing.actions(loop, found.range)
        here = editing.all_after(actions["Ignore TL301 on this line"])
        assert here == {loop: f"{LOOP}  # trainlint: ignore[TL301]"}
        everywhere = editing.all_after(actions["Ignore TL301 in this notebook"])
        assert everywhere == {magic: "%%time\n# trainlint: ignore-file[TL301]\nimport os"}
        for after in (here, everywhere):
            before = {cell: editing.text(cell) for cell in after}
            for cell, text in after.items():
                editing.write_cell("train.ipynb", cell, text)
            await editing.shows(loop)
            for cell, text in before.items():
                editing.write_cell("train.ipynb", cell, text)
            await editing.shows(loop, "TL301")


async def test_nothing_is_changed_where_a_magic_stands(project: Project) -> None:
    async with editor(project({})) as editing:
        magics = "%time scaler = torch.cuda.amp.GradScaler()"
        (cell,) = editing.open_notebook("train.ipynb", f"import torch\n{OLD}\n{magics}")
        found = await editing.until(cell, lambda found: len(found) == 2)
        magic = max(found, key=lambda one: one.range.start.line)
        assert marked(editing, cell, magic).startswith("torch.cuda.amp")
        actions = await editing.actions(cell, magic.range)
        assert list(actions) == [f"Ignore {magic.code} in this notebook"]


async def test_modules_and_notebooks_count_for_each_other(project: Project) -> None:
    folder = project({"net.py": f"{NET}\n"})
    async with editor(folder) as editing:
        (cell,) = editing.open_notebook(
            "train.ipynb", f"from torch import nn\nfrom net import Net\nimport torch\n{LOSS}\n{LOOP}"
        )
        await editing.shows("net.py", "TL101")  # on disk
        editing.open("net.py", f"{NET.replace('torch.softmax(x, -1)', 'x')}\n")
        await editing.shows("net.py")
        await editing.shows(cell, "TL301")


@pytest.mark.parametrize("name", ["untitled:Untitled-1.ipynb", "untitled:Untitled-2", "percent.py"])
async def test_notebooks_that_are_no_ipynb_files(project: Project, name: str) -> None:
    async with editor(project({})) as editing:
        *_, loop = editing.open_notebook(name, NET, LOSS, LOOP)
        await editing.shows(loop, "TL301")


async def test_a_whole_notebook_in_one_file_is_no_python(project: Project) -> None:
    folder = project({})
    written(folder / "train.ipynb", [NET, LOSS, LOOP])
    async with editor(folder) as editing:
        editing.open("train.ipynb", language="json")
        editing.open("a.py", LOOP)
        await editing.until("a.py", lambda _: True)
        assert not editing.has_been_told("train.ipynb")
