"""`trainlint server`: what can be done about a finding, driven by a real client over standard input and output."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from lsprotocol import types

from tests.editor import Diagnostics, Editor, editor
from tests.warm import Ran, python

if TYPE_CHECKING:
    from tests.conftest import Project

pytestmark = pytest.mark.asyncio

LOOP = """\
import torch
from torch import nn

model = nn.Linear(2, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in data:
    nn.MSELoss()(model(x), y).backward()
    optimizer.step()
"""
OLD = """\
import torch
from torch.cuda.amp import autocast

def train(model, loader, optimizer, criterion):
    for x, y in loader:
        optimizer.zero_grad()
        with autocast(dtype=torch.bfloat16):  # é🦙
            loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
"""
ALL = types.Range(types.Position(0, 0), types.Position(10_000, 0))


def ran(folder: Path, *arguments: str) -> Ran:
    return python(["-m", "trainlint", "check", "--no-cache", *arguments], folder)


async def shown(editing: Editor, name: str) -> Diagnostics:
    return await editing.until(name, bool)


@pytest.mark.parametrize("versioned", [True, False])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
async def test_a_safe_fix_does_what_check_does(project: Project, end: str, versioned: bool) -> None:
    text = OLD.replace("\n", end)
    folder = project({"train.py": text})
    async with editor(folder, versioned=versioned) as editing:
        editing.open("train.py")
        (found,) = await editing.shows("train.py", "TL401")
        actions = await editing.actions("train.py", found.range)
        (fix,) = (one for one in actions.values() if one.is_preferred)
        assert fix.kind == types.CodeActionKind.QuickFix
        assert [one.code for one in fix.diagnostics or ()] == ["TL401"]
        fixed = editing.after("train.py", fix)
        editing.write("train.py", fixed)
        await editing.shows("train.py")
    assert ran(folder, "--fix", "train.py").returncode == 0
    assert fixed.encode() == (folder / "train.py").read_bytes()


async def test_an_unsafe_fix_says_so_and_is_not_preferred(project: Project) -> None:
    async with editor(project({"train.py": LOOP})) as editing:
        editing.open("train.py")
        (found,) = await editing.shows("train.py", "TL301")
        actions = await editing.actions("train.py", found.range)
        (fix,) = (one for title, one in actions.items() if "unsafe" in title)
        assert not fix.is_preferred
        editing.write("train.py", editing.after("train.py", fix))
        await editing.shows("train.py")


async def test_all_safe_fixes_at_once_when_asked_for(project: Project) -> None:
    folder = project({"train.py": OLD + OLD.partition("\n\n")[2].replace("train", "again") + LOOP})
    async with editor(folder) as editing:
        editing.open("train.py")
        await editing.shows("train.py", "TL301", "TL401", "TL401")
        assert not any("Fix all" in title for title in await editing.actions("train.py", ALL))
        (fix,) = (await editing.actions("train.py", ALL, "source.fixAll")).values()
        assert fix.kind == "source.fixAll.trainlint"
        editing.write("train.py", editing.after("train.py", fix))
        await editing.shows("train.py", "TL301")


async def test_what_fixes_make_idle_goes(project: Project) -> None:
    wrap = "        x, y = Variable(x, volatile=True), Variable(y, volatile=True)\n        x = Variable(x, volatile=True)\n        optimizer.zero_grad()\n"
    text = OLD.replace("cuda.amp import autocast", "autograd import Variable").replace(
        "autocast(dtype=", "open("
    )
    text = text.replace("        optimizer.zero_grad()\n", wrap)
    loop = "\n\ntrain(nn.Linear(1, 1), [(torch.ones(1), torch.ones(1))], torch.optim.SGD([], 0.1), nn.MSELoss())\n"
    text = text.replace("\n\ndef", "\nfrom torch import nn\n\ndef") + loop
    folder = project({"train.py": text})
    async with editor(folder) as editing:
        editing.open("train.py")
        found = await shown(editing, "train.py")
        alone = next(
            one for one in found if one.range.start.line == text[: text.index("        x = V")].count("\n")
        )
        actions = await editing.actions("train.py", alone.range)
        (fix,) = (one for one in actions.values() if one.is_preferred)
        assert editing.after("train.py", fix) == text.replace("        x = Variable(x, volatile=True)\n", "")
        (fix,) = (await editing.actions("train.py", ALL, "source.fixAll")).values()
        assert editing.after("train.py", fix) == text.replace(wrap, "        optimizer.zero_grad()\n")


@pytest.mark.parametrize(
    "statement",
    [
        "optimizer.step()",
        "optimizer.step()  # noqa: X",
        "optimizer.step()  # trainlint: ignore[TL101] because",
        "optimizer.step(\n    )",
        "a = '''\n'''; optimizer.step()",
        "optimizer.step(); a = '''\n'''",
        "optimizer \\\n        .step()",
    ],
)
async def test_ignoring_on_a_line_silences_the_server_and_check(project: Project, statement: str) -> None:
    text = LOOP.replace("optimizer.step()", statement)
    folder = project({"train.py": text})
    async with editor(folder) as editing:
        editing.open("train.py")
        found = next(one for one in await shown(editing, "train.py") if one.code == "TL301")
        action = (await editing.actions("train.py", found.range))["Ignore TL301 on this line"]
        after = editing.after("train.py", action)
        compile(after, "train.py", "exec")
        editing.write("train.py", after)
        await editing.until("train.py", lambda now: all(one.code != "TL301" for one in now))
    (folder / "train.py").write_text(after)
    assert "error[TL301]" not in ran(folder, "train.py").stdout
    if "because" in statement:
        assert "# trainlint: ignore[TL101, TL301] because" in after


@pytest.mark.parametrize(
    "first", ["", "#!/usr/bin/env python\n# coding: utf-8\n", "# about\n# coding: latin-1\n", '"""Doc."""\n']
)
async def test_ignoring_in_a_file_silences_the_server_and_check(project: Project, first: str) -> None:
    text = first + LOOP
    folder = project({"train.py": text})
    async with editor(folder) as editing:
        editing.open("train.py")
        (found,) = await editing.shows("train.py", "TL301")
        action = (await editing.actions("train.py", found.range))["Ignore TL301 in this file"]
        after = editing.after("train.py", action)
        assert after.startswith(first if first.startswith("#") else "# trainlint: ignore-file[TL301]\n")
        editing.write("train.py", after)
        await editing.shows("train.py")
    (folder / "train.py").write_text(after)
    assert ran(folder, "train.py").returncode == 0, after


async def test_a_second_rule_joins_the_comment_of_the_first(project: Project) -> None:
    folder = project({"train.py": f"# trainlint: ignore-file[TL401] old\n{OLD}{LOOP}"})
    async with editor(folder) as editing:
        editing.open("train.py")
        (found,) = await editing.shows("train.py", "TL301")
        action = (await editing.actions("train.py", found.range))["Ignore TL301 in this file"]
        after = editing.after("train.py", action)
        assert after.startswith("# trainlint: ignore-file[TL401, TL301] old\n")
        editing.write("train.py", after)
        await editing.shows("train.py")


async def test_actions_are_about_what_stands_where_they_are_asked_for(project: Project) -> None:
    async with editor(project({"train.py": LOOP})) as editing:
        editing.open("train.py")
        (found,) = await editing.shows("train.py", "TL301")
        top = types.Range(types.Position(0, 0), types.Position(0, 3))
        assert not await editing.actions("train.py", top)
        assert not await editing.actions("train.py", found.range, "refactor")
        editing.write("train.py", f"\n{LOOP}")  # asked at once: the answer is about the new text
        line = types.Position(found.range.start.line + 1, found.range.start.character)
        assert await editing.actions("train.py", types.Range(line, line))
        editing.write("train.py", f"x = (\n{LOOP}")
        assert not await editing.actions("train.py", ALL)
