"""`check --shard 2/5`: together the parts say what the whole says, each thing once."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from tests.test_cache import NET, TRAIN
from trainlint.cli.app import app
from trainlint.errors import UsageError
from trainlint.program.incremental.shards import Shard, shard

if TYPE_CHECKING:
    from tests.conftest import Project

LOOP = TRAIN.replace("from net import Net\n", "").replace("Net()", "nn.Linear(2, 2)")


def files() -> dict[str, str]:
    found = {
        "broken.py": "import torch\ntorch.amp.autocast(\n",
        "plain.py": "x = 1  # trainlint: ignore[TL101]\n",
    }
    for number in range(4):
        found[f"p{number}/net.py"] = NET
        found[f"p{number}/train.py"] = TRAIN.replace("from net", f"from p{number}.net")
        found[f"p{number}/alone.py"] = LOOP + "\n" * number
        found[f"plain{number}.py"] = "y = 2  # trainlint: ignore\n"
    return found


def check(*arguments: str) -> dict[str, Any]:
    ran = CliRunner().invoke(app, ["check", "--output-format", "json", *arguments])
    assert ran.exit_code in (0, 1, 2), ran.output
    document: dict[str, Any] = json.loads(ran.stdout)
    return document


def told(document: dict[str, Any]) -> Counter[tuple[str, str, int]]:
    found = Counter((one["code"], one["path"], one["line"]) for one in document["findings"])
    found.update(("error", one["path"], one["line"]) for one in document["errors"])
    return found


@pytest.mark.parametrize("of", [1, 2, 3, 30])
@pytest.mark.parametrize("options", [["--no-cache"], [], ["--jobs", "2", "--no-cache"]], ids=str)
def test_each_finding_is_in_one_part(project: Project, of: int, options: list[str]) -> None:
    project(files())
    whole = check("--no-cache")
    assert {one for one, _, _ in told(whole)} == {"TL000", "TL101", "TL301", "error"}
    for _ in options[:1] or ("cold", "warm"):
        parts = [check("--shard", f"{number}/{of}", *options) for number in range(1, of + 1)]
        together = sum(map(told, parts), Counter[tuple[str, str, int]]())
        assert together == told(whole)
        assert sum(one["summary"]["files"] for one in parts) == whole["summary"]["files"]


def test_the_work_is_divided(project: Project) -> None:
    project(files())
    parts = [check("--no-cache", "--shard", f"{number}/2") for number in (1, 2)]
    found = [
        sum(one["path"].startswith("p") and one["code"] != "TL000" for one in part["findings"])
        for part in parts
    ]
    assert min(found) >= 4, found
    assert sum(found) == 12


def test_large_groups_go_first_and_each_to_where_there_is_least() -> None:
    sizes = {"a": 9, "b": 5, "c": 4, "d": 4, "e": 1}
    groups = [["e"], ["d"], ["c"], ["b"], ["a"]]
    assert [sorted(Shard(number, 2).groups(groups, sizes.__getitem__)) for number in (1, 2)] == [
        [["a"], ["d"]],
        [["b"], ["c"], ["e"]],
    ]
    assert Shard(1, 1).groups([["x", "y"]], lambda _: 0) == [["x", "y"]]


@pytest.mark.parametrize("text", ["", "1", "0/2", "3/2", "1/0", "-1/2", "a/b", "1/2/3", "1/99999"])
def test_parts_that_there_are_not(text: str) -> None:
    with pytest.raises(UsageError, match="write which part of how many, such as 2/5"):
        shard(text)


@pytest.mark.parametrize(
    "arguments", [["--fix"], ["--diff"], ["--baseline", "known.json", "--write-baseline"]]
)
def test_what_needs_the_whole_is_refused(project: Project, arguments: list[str]) -> None:
    root = project(files())
    ran = CliRunner().invoke(app, ["check", "--shard", "1/2", *arguments])
    assert (ran.exit_code, "--shard cannot be combined with" in ran.stderr) == (2, True)
    assert not (root / "known.json").exists()
