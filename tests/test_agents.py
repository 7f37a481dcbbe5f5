"""`trainlint mcp`: what agents are told, and the server as the official SDK's client sees it."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from tests.own import FILES, TRAIN
from trainlint.agents import answers, tools
from trainlint.cli.app import app
from trainlint.errors import UsageError
from trainlint.project.own_rules import TRUSTED
from trainlint.rules import bring

if TYPE_CHECKING:
    from tests.conftest import Project

ROOT = Path(__file__).parent.parent
WRONG = """\
import torch
from torch import nn

model = nn.Sequential(nn.Linear(4, 2), nn.Softmax(dim=-1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    loss = nn.CrossEntropyLoss()(model.forward(torch.randn(8, 4)), torch.randint(2, (8,)))
    loss.backward()
    optimizer.step()
print("the program's own words")
model.register_forward_hook(print)
"""


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv(TRUSTED, raising=False)
    yield
    bring(())


def test_a_check_says_places_reasons_and_what_to_change(project: Project) -> None:
    project({"train.py": WRONG})
    lines = tools.check().splitlines()
    assert lines[0].startswith("Found 2 errors")
    assert any(
        re.match(r"train\.py:4:40: error TL101 softmax-before-cross-entropy: `", line) for line in lines
    )
    assert any(re.match(r"  train\.py:7:12: .*CrossEntropyLoss", line) for line in lines)
    assert "  fix (safe): Call the module itself" in "\n".join(lines)
    assert any(re.match(r"    replace 7:\d+-7:\d+ by '", line) for line in lines)
    assert not any("\x1b" in line for line in lines)
    only = tools.check(["train.py"], ["TL301"])
    assert "TL301" in only
    assert "TL101" not in only


def test_the_worst_come_first_and_many_are_cut(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project({f"train{number}.py": WRONG for number in range(6)} | {"broken.py": "import torch\nx = (\n"})
    said = tools.check()
    assert re.search(
        r"^TL101 softmax-before-cross-entropy: 3 more alike: train\d\.py:4:40, ", said, re.MULTILINE
    )
    levels = re.findall(r"^\S+: (error|warning|info) ", said, re.MULTILINE)
    assert levels == sorted(levels, key=["error", "warning", "info"].index)
    assert "not checked: broken.py:2: " in said
    monkeypatch.setattr(answers, "_MOST", 2)
    assert "more are left out: name fewer paths, or select rules." in tools.check()


def test_explain(project: Project) -> None:
    project({})
    assert tools.explain("missing-zero-grad") == tools.explain("tl301")
    assert tools.explain("TL301").startswith("# TL301 ")
    with pytest.raises(UsageError, match="did you mean `missing-zero-grad`"):
        tools.explain("missing-zero-grads")


def test_a_fix_is_written_only_where_it_is_asked_for(project: Project) -> None:
    root = project({"train.py": WRONG})
    said = tools.fix()
    assert "-    loss = nn.CrossEntropyLoss()(model.forward(" in said
    assert "+    loss = nn.CrossEntropyLoss()(model(" in said
    assert (root / "train.py").read_text() == WRONG
    assert tools.fix(write=True) == said
    fixed = (root / "train.py").read_text()
    assert "model(torch" in fixed
    assert "Softmax" in fixed
    assert tools.fix() == "Nothing can be fixed.\n"
    assert "-model = nn.Sequential" in tools.fix(unsafe=True)
    assert (root / "train.py").read_text() == fixed


def test_rules_of_a_project_are_not_run_without_a_word(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = project({**FILES, "train.py": TRAIN})
    with pytest.raises(UsageError, match="`rule-paths` names rules in lint, which is code"):
        tools.check()
    monkeypatch.setenv(TRUSTED, str(root))
    assert "ACME101" in tools.check()


def test_a_run_says_what_it_shows_and_not_what_the_program_says(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project({"train.py": WRONG})
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    said = tools.run("train.py")
    assert said.startswith("exit code 1\n")
    assert "confirmed" in said
    assert "own words" not in said
    assert tools.run("nowhere.py").startswith("exit code 2\nerror: nowhere.py does not exist")


def test_without_the_sdk_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    monkeypatch.delitem(sys.modules, "trainlint.agents.serving", raising=False)
    ran = CliRunner().invoke(app, ["mcp"])
    assert (ran.exit_code, ran.stderr) == (
        2,
        "error: the server for agents needs the SDK: pip install 'trainlint[mcp]'\n",
    )


@pytest.mark.asyncio
async def test_the_sdks_client_is_served_over_stdio(project: Project) -> None:
    pytest.importorskip("mcp", reason="needs the extra `mcp`")
    from mcp.client.client import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client

    root = project({"train.py": WRONG})
    started = StdioServerParameters(
        command=sys.executable,
        args=["-m", "trainlint", "mcp"],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )

    def text(result: Any) -> str:
        [content] = result.content
        return str(content.text)

    async with Client(stdio_client(started)) as client:
        found = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert found.keys() == {"check", "explain", "fix", "run"}
        reads, runs = found["check"].annotations, found["run"].annotations
        assert reads is not None and reads.read_only_hint is True
        assert runs is not None and runs.destructive_hint is True
        assert set(found["fix"].input_schema["properties"]) == {"paths", "select", "unsafe", "write"}
        assert "TL101" in text(await client.call_tool("check", {"paths": ["train.py"]}))
        assert text(await client.call_tool("explain", {"rule": "TL101"})).startswith("# TL101")
        assert "+    loss" in text(await client.call_tool("fix", {}))
        wrong = await client.call_tool("check", {"paths": ["nowhere"]})
        assert wrong.is_error
        assert "nowhere: no such file or folder" in text(wrong)
        assert "TL301" in text(await client.call_tool("check", {"select": ["TL301"]}))
