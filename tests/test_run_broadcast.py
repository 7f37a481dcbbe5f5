"""A column of predictions against a row of targets, in losses of the program's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.in_process import findings_of_run

_LOSS = """\
import torch
from torch import nn
torch.manual_seed(0)
class Loss(nn.Module):
    def forward(self, guess, wanted):
        {loss}
model, measure = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1)), Loss()
optimizer = torch.optim.Adam(model.parameters(), 1e-2)
for i in range(3):
    x = torch.randn(12, 8)
    loss = measure(model(x){shape}, x[:, 0] * 2)
    optimizer.zero_grad(); loss.backward(); optimizer.step()
"""


@pytest.mark.parametrize(
    "loss",
    [
        "error = guess - wanted; return torch.where(error > 0, error, -0.3 * error).mean()",
        "return torch.log(torch.cosh(wanted - guess)).mean()",
        "return -(guess.sigmoid().log() * wanted).mean()",
        "return (guess / (wanted.abs() + 1)).square().mean().sqrt()",
    ],
)
def test_every_prediction_meets_every_target(tmp_path: Path, loss: str) -> None:
    script = tmp_path / "train.py"
    for shape, lines in (("", [6]), (".squeeze(1)", []), (".flatten()", [])):
        script.write_text(_LOSS.format(loss=loss, shape=shape))
        assert [one.at.line for one in findings_of_run(script) if one.code == "TL108"] == lines


@pytest.mark.parametrize(
    "loss",
    [
        "pairs = guess - guess.T; return (pairs.tanh() - (wanted[:, None] - wanted).sign()).square().mean()",
        "return (guess[:3] - wanted[:3]).square().log1p().mean()",
        "return ((guess - wanted[:, None]).abs() * torch.rand(12, 1)).mean()",
    ],
)
def test_all_pairs_that_are_meant(tmp_path: Path, loss: str) -> None:
    script = tmp_path / "train.py"
    script.write_text(_LOSS.format(loss=loss, shape=""))
    found = [one for one in findings_of_run(script) if one.code == "TL108"]
    assert found == []
