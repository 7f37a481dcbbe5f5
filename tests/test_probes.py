"""Probes on programs that really run: for each, one that passes and one that fails, and nothing of the user's changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.test_run import CLEAN, FOUND, python, report, run, write

CLASSIFIER = """\
import torch
from torch import nn
torch.manual_seed(0)
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(8, 64)
        self.drop = nn.Dropout(0.1)
        self.last = nn.Linear(64, 4)
    def forward(self, x):
        x = self.drop(torch.relu(self.first(x)))
        return self.last(x)
model = Model()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(4):
    x, y = torch.randn(16, 8), torch.randint(4, (16,))
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
"""
AVERAGED = CLASSIFIER.replace("return self.last(x)", "return self.last(x.mean(0, keepdim=True).expand_as(x))")


def tried(folder: Path, program: str, probe: str, *options: str) -> dict[str, Any]:
    """What one probe says of a program."""
    write(folder, {"train.py": program})
    ran = run(folder, "--probe", probe, *options, "train.py")
    (said,) = report(folder)["run"]["tried"]
    assert said["name"] == probe, ran.stderr
    return dict(said)


@pytest.mark.parametrize(
    ("probe", "program", "verdict", "word"),
    [
        ("overfit", CLASSIFIER, "passed", "falls from"),
        ("overfit", AVERAGED, "failed", "tell the samples of the batch apart"),
    ],
)
def test_what_a_probe_says(probe: str, program: str, verdict: str, word: str, tmp_path: Path) -> None:
    said = tried(tmp_path, program, probe)
    assert (said["verdict"], word in said["said"]) == (verdict, True), said


def test_a_failed_probe_is_told_and_drawn_and_counts(tmp_path: Path) -> None:
    write(tmp_path, {"train.py": AVERAGED})
    command = ("-m", "trainlint", "run", "--no-cache", "--probe", "overfit", "--select", "TL1")
    ran = python(tmp_path, *command, "--report", "step.html", "train.py")
    assert ran.returncode == FOUND
    assert "  overfit: failed: the loss of one batch falls from 1." in ran.stdout
    assert "Loss of one batch, step by step" in (tmp_path / "step.html").read_text()
    write(tmp_path, {"train.py": CLASSIFIER})
    assert python(tmp_path, *command, "train.py").returncode == CLEAN
