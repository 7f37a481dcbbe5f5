"""The graph of a recorded model, and what made it."""

from pathlib import Path

import pytest

pytest.importorskip("torch")

from tests.in_process import recorded
from trainlint.facts.seen.pictures import Picture

PROGRAM = """
import torch
from torch import nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        {made}

    def forward(self, x):
        {gives}

model = Model()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    model(torch.ones(4, 2)).mean().backward()
    optimizer.step()
"""


def picture(folder: Path, made: str, gives: str) -> Picture:
    script = folder / "train.py"
    script.write_text(PROGRAM.format(made=made, gives=gives))
    found = recorded(script).facts(Picture)
    assert len(found) == 1
    return found[0]


def test_a_plain_model_is_traced(tmp_path: Path) -> None:
    found = picture(tmp_path, "self.head = nn.Linear(2, 2)", "return self.head(x).relu()")
    assert (found.by, found.because) == ("torch.fx", "")
    assert [one.operation for one in found.nodes] == ["placeholder", "Linear", "relu", "output"]


def test_a_forward_that_looks_at_shapes_is_exported(tmp_path: Path) -> None:
    found = picture(
        tmp_path, "self.head = nn.Linear(2, 2)", "return self.head(x) if len(x) > 1 else self.head(-x)"
    )
    assert found.by == "torch.export" and found.because.startswith("torch.fx: ")
    assert "linear" in [one.operation for one in found.nodes]


def test_a_forward_that_looks_at_numbers_shows_its_calls(tmp_path: Path) -> None:
    found = picture(
        tmp_path, "self.head = nn.Linear(2, 2)", "return self.head(x) if x.sum() > 1 else self.head(-x)"
    )
    assert found.by == "calls" and "torch.export: " in found.because
    assert [one.operation for one in found.nodes] == ["Linear"]


def test_of_a_model_of_thousands_of_layers_nothing_is_traced(tmp_path: Path) -> None:
    made = "self.layers = nn.ModuleList(nn.Identity() for _ in range({})); self.head = nn.Linear(2, 2)"
    few = picture(tmp_path, made.format(1_997), "return self.head(x)")
    many = picture(tmp_path, made.format(1_998), "return self.head(x)")
    assert few.by == "torch.fx"
    assert (many.by, many.because) == ("calls", "it has more than 2,000 modules")
