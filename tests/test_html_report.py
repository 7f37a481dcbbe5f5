"""The report of a step as people see it: in headless Chromium, and from the recording alone."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.browser import Browser, browser, needs_browser
from tests.warm import ROOT, python
from trainlint.cli.app import app

TRAINS = """\
import torch
from torch import nn
torch.manual_seed(0)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 16)
        self.second = nn.Linear(16, 3)
        self.unused = nn.Linear(3, 3)

    def forward(self, x):
        return torch.softmax(self.second(torch.relu(self.first(x))), dim=-1)

model = Net()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(8):
    optimizer.zero_grad()
    loss = criterion(model(torch.randn(8, 4)), torch.randint(3, (8,)))
    loss.backward()
    optimizer.step()
    print(f"loss {loss.item():.3g}")
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that was run with `--report`, and its recording."""
    folder = tmp_path_factory.mktemp("run")
    (folder / "train.py").write_text(TRAINS)
    command = ["-m", "trainlint", "run", "--steps", "3", "--no-cache"]
    ran = python([*command, "--report", "step.html", "--save-trace", "step.json", "train.py"], folder)
    assert ran.returncode == 1, ran.stderr
    (folder / "printed").write_text(ran.stdout)
    return folder


@pytest.fixture(scope="module")
def tab() -> Iterator[Browser]:
    with browser() as one:
        yield one


@pytest.fixture(scope="module")
def shown(folder: Path, tab: Browser) -> Browser:
    tab.open(folder / "step.html")
    return tab


def test_the_report_comes_from_the_recording_alone_and_without_torch(folder: Path, tmp_path: Path) -> None:
    again = tmp_path / "again.html"
    command = ["-m", "trainlint", "run", "--from-trace", "step.json", "--report", str(again)]
    poisoned = os.pathsep.join((str(ROOT / "fixtures/poison"), str(ROOT)))
    ran = python(command, folder, {"PYTHONPATH": poisoned})
    assert ran.returncode == 1, ran.stderr
    assert again.read_text() == (folder / "step.html").read_text()


def test_a_report_that_cannot_be_written_is_said_before_anything_runs(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("print('ran')\n")
    wanted = tmp_path / "nowhere/step.html"
    ran = CliRunner().invoke(app, ["run", "--report", str(wanted), str(tmp_path / "train.py")])
    assert ran.exit_code == 2
    assert "cannot be written" in ran.output


@needs_browser
def test_nothing_is_asked_for_and_nothing_complains(folder: Path, tab: Browser) -> None:
    tab.open(folder / "step.html")
    assert tab.messages() == []
    assert tab.requests() == [(folder / "step.html").as_uri()]


@needs_browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_names_and_contrast_are_fit_for_everybody(folder: Path, tab: Browser, scheme: str) -> None:
    tab.open(folder / "step.html", scheme)
    tab.run("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert tab.violations() == []


@needs_browser
def test_what_is_wrong_stands_first(shown: Browser) -> None:
    assert shown.text("h1") == "1 error and 2 warnings found"
    first = shown.text("ul.worst li")
    assert "TL101" in first and "train.py:13" in first and "confirmed" in first
    assert "rows that sum to 1\n8" in shown.text("#finding-2, #finding-1.error, article.error")
    marked = shown.run(
        "return [...document.querySelectorAll('article.error mark.error')].map(m => m.innerText)"
    )
    assert marked == ["torch.softmax(self.second(torch.relu(self.first(x))), dim=-1)"]


@needs_browser
def test_losses_are_those_that_the_program_prints(folder: Path, shown: Browser) -> None:
    printed = re.findall(r"loss (\S+)", (folder / "printed").read_text())
    titles = shown.run(
        "return [...document.querySelectorAll('#losses circle title')].map(t => t.textContent)"
    )
    assert [one.rpartition(" ")[2] for one in titles[:3]] == printed[:3]
    assert f"{math.log(3):.3g} (log 3)" in shown.text("#losses table")
