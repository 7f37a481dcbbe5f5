"""Activations that are called as functions, and what is at their flat ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.in_process import findings_of_run

_NET = """\
import torch, torch.nn.functional as F
from torch import nn
torch.manual_seed(0)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.head = nn.Linear(8, 32), nn.Linear(32, 2)
        self.weight = nn.Parameter(torch.randn(8, 32) / 3)
    def forward(self, x):
        hidden = {hidden}
        return {out}
model = Net()
{make}
optimizer = torch.optim.Adam(model.parameters(), 1e-3)
for i in range(3):
    x = {scale} * torch.randn(32, 8)
    loss = F.cross_entropy(model(x), (x[:, 0] > 0).long())
    optimizer.zero_grad(); loss.backward(); optimizer.step()
"""
_HEAD, _LOW = "self.head(hidden)", "nn.init.constant_(model.first.bias, -50.0)"


@pytest.mark.parametrize(
    ("hidden", "out", "make", "scale", "is_found"),
    [
        ("torch.tanh(self.first(x))", _HEAD, "", 500, True),
        ("F.sigmoid(x @ self.weight + self.weight.mean(0))", _HEAD, "", 2000, True),
        ("(self.first(x) + self.first(x)).sigmoid()", _HEAD, "", 1000, True),
        ("self.first(x).clamp(min=0)", _HEAD, _LOW, 1, True),
        ("torch.clamp_min(self.first(x), 0.0)", _HEAD, _LOW, 1, True),
        ("F.relu6(self.first(x))", _HEAD, _LOW, 1, True),
        ("torch.tanh(self.first(x))", _HEAD, "", 1, False),
        ("self.first(x)", "self.head(torch.tanh(500 * hidden))", "", 1, False),
        ("self.first(x)", "torch.tanh(self.head(hidden))", "", 500, False),
        ("torch.sigmoid(self.first(x))", _HEAD, _LOW, 1, False),
        ("self.first(x).clamp(min=0)", _HEAD, "", 1, False),
        ("self.first(x).clamp(0, 1)", _HEAD, _LOW, 1, False),
        ("self.first(x)", "self.head(hidden + (hidden.abs() - 99).clamp(min=0))", "", 1, False),
    ],
)
def test_an_activation_has_no_gradient(
    tmp_path: Path, hidden: str, out: str, make: str, scale: int, is_found: bool
) -> None:
    script = tmp_path / "train.py"
    script.write_text(_NET.format(hidden=hidden, out=out, make=make, scale=scale))
    found = [one.at.line for one in findings_of_run(script) if one.code == "TL906"]
    assert found == ([10] if is_found else [])
