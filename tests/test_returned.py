"""A parameter is known by what another function returns, and an edit of that function changes what it is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from trainlint.cli.app import app

PROGRAM = """\
import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        return self.head(x).softmax(dim=-1)


def prepare(settings):
    net = Tagger()
    return net, torch.optim.Adam(net.parameters())


def fit(net, optimizer, loader):
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(x), y).backward()
        optimizer.step()
"""


def codes(*arguments: str) -> set[str]:
    outcome = CliRunner().invoke(app, ["check", "--output-format", "json", *arguments])
    return {one["code"] for one in json.loads(outcome.stdout)["findings"]}


@pytest.mark.parametrize(
    ("said", "before"),
    [("return net,", "return [net],"), ("    return net,", "    net.zero_grad()\n    return net,")],
)
def test_a_parameter_is_known_once_another_function_returns_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, before: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(PROGRAM.replace(said, before))
    assert codes() == set()
    (tmp_path / "train.py").write_text(PROGRAM)
    assert codes() == codes("--no-cache") == {"TL101"}


@pytest.mark.parametrize(
    ("said", "instead"),
    [
        ("prepare(settings)", "prepare(net)"),  # it gives back what it was given
        ("return net, torch", "if settings:\n        return None\n    return net, torch"),  # or nothing
    ],
)
def test_what_may_be_something_else_is_not_taken_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, instead: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(PROGRAM.replace(said, instead))
    assert codes() == set()
