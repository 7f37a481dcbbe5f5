"""Half of a program: the files that import the named ones are read too, and what lies in imported files is counted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.fixing import Check
from trainlint import limits

ENGINE = """\
import torch


def validate(net, loader, criterion):
    net.eval()
    total = 0.0
    for x, y in loader:
        total += criterion(net(x), y).item()
    return total


def fit(net, loader, opt, crit):
    net.train()
    for x, y in loader:
        crit(net(x), y).backward()
        opt.step()
"""
TRAIN = """\
import torch
from torch import nn
from engine import fit, validate

net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
fit(net, batches(), torch.optim.SGD(net.parameters(), lr=0.1), nn.CrossEntropyLoss())
with torch.no_grad():
    validate(net, batches(), nn.CrossEntropyLoss())
torch.nn.functional.cross_entropy(torch.softmax(net(x), -1), y)
"""
IN_ENGINE, IN_TRAIN = ("engine.py", "TL301"), ("train.py", "TL101")


@pytest.fixture
def folder(tmp_path: Path, check: Check) -> Path:
    (tmp_path / "engine.py").write_text(ENGINE)
    (tmp_path / "train.py").write_text(TRAIN)
    return tmp_path


def found(check: Check, *arguments: str) -> set[tuple[str, str]]:
    return {(one["path"], one["code"]) for one in check("--output-format", "json", *arguments).findings}


def test_each_half_alone_and_both(folder: Path, check: Check) -> None:
    assert found(check, ".") == found(check, "engine.py", "train.py") == {IN_ENGINE, IN_TRAIN}
    assert found(check, "engine.py") == {IN_ENGINE}
    assert found(check, "train.py") == {IN_TRAIN}


def test_no_importers(folder: Path, check: Check) -> None:
    assert found(check, "--no-importers", "engine.py") == {IN_ENGINE, ("engine.py", "TL312")}


def test_what_lies_in_imported_files_is_counted(folder: Path, check: Check) -> None:
    assert "(1 more in imported files)" in check("train.py").stdout.decode()
    document = json.loads(check("--output-format", "json", "train.py").stdout)
    assert document["summary"]["withheld"]["imported"] == 1
    assert "imported files" not in check("engine.py").stdout.decode()


def test_what_is_off_or_ignored_in_imported_files_is_not_counted(folder: Path, check: Check) -> None:
    assert "imported files" not in check("--ignore", "TL301", "train.py").stdout.decode()
    (folder / "engine.py").write_text(ENGINE.replace("opt.step()", "opt.step()  # trainlint: ignore"))
    assert "imported files" not in check("train.py").stdout.decode()


def test_callers_of_callers_in_other_folders(folder: Path, check: Check) -> None:
    (folder / "setup.py").write_text("")
    package = folder / "lib"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "engine.py").write_text(ENGINE)
    (package / "loop.py").write_text("from .engine import fit, validate\n")
    (folder / "train.py").write_text(TRAIN.replace("from engine", "from lib.loop"))
    assert found(check, "lib/engine.py") == {("lib/engine.py", "TL301")}


def test_excluded_callers_are_none(folder: Path, check: Check) -> None:
    (folder / "trainlint.toml").write_text('exclude = ["train.py"]')
    assert ("engine.py", "TL312") in found(check, "engine.py")


def test_no_more_than_so_much_is_read(folder: Path, check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "CALLERS_SIZE", 10)
    said = check("--verbose", "engine.py").stdout.decode()
    assert "TL312" in said
    assert "engine.py: CALLERS_SIZE, train.py and other files that import it are not read" in said


@pytest.mark.parametrize("limit", ["PROJECT_FILES", "PROJECT_ENTRIES"])
def test_in_a_large_project_the_folders_around_are_looked_at(
    limit: str, folder: Path, check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, limit, 1)
    assert found(check, "engine.py") == {IN_ENGINE}
    assert "only files in the folders around it" in check("--verbose", "engine.py").stdout.decode()


def test_a_caller_that_changes_is_noticed(folder: Path, check: Check) -> None:
    cached = ("--cache-dir", str(folder / "cache"), "engine.py")
    before = json.loads(_with_cache(*cached))
    (folder / "train.py").write_text("")
    after = json.loads(_with_cache(*cached))
    assert [one["code"] for one in before["findings"]] == ["TL301"]
    assert [one["code"] for one in after["findings"]] == ["TL312", "TL301"]


def _with_cache(*arguments: str) -> str:
    from typer.testing import CliRunner

    from trainlint.cli.app import app

    return CliRunner().invoke(app, ["check", "--output-format", "json", *arguments]).stdout
