"""Models that continue a sequence, with the channels before the positions, as convolutions and losses want them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.in_process import findings_of_run

_WORDS = """\
import torch, torch.nn.functional as F
from torch import nn
torch.manual_seed(0)
class Words(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.out = nn.Embedding(11, 8), nn.Conv1d(8, 11, 1)
        self.first, self.norm = nn.Conv1d(8, 8, 3), {norm}
    def forward(self, words):
        x = self.embed(words).transpose(1, 2)
        return self.out(self.norm(self.first(F.pad(x, {pad}))).relu())
model = Words()
optimizer = torch.optim.Adam(model.parameters(), 1e-2)
for i in range(3):
    words = torch.randint(11, (6, 13))
    loss = F.cross_entropy(model(words[:, :-1]), words[:, 1:])
    optimizer.zero_grad(); loss.backward(); optimizer.step()
"""

_SERIES = """\
import torch, torch.nn.functional as F
from torch import nn
torch.manual_seed(0)
class Series(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.norm, self.out = nn.Conv1d(2, 8, 3), {norm}, nn.Conv1d(8, 2, 1)
    def forward(self, x):
        return self.out(self.norm(self.first(F.pad(x, {pad}))).tanh())
model = Series()
optimizer = torch.optim.Adam(model.parameters(), 1e-2)
for i in range(3):
    series = torch.randn(6, 2, 13).cumsum(-1)
    loss = F.mse_loss(model(series[..., :-1]), series[..., 1:])
    optimizer.zero_grad(); loss.backward(); optimizer.step()
"""


@pytest.mark.parametrize(("program", "line"), [(_WORDS, 16), (_SERIES, 14)])
@pytest.mark.parametrize(
    ("norm", "pad", "leaks"),
    [
        ("nn.GroupNorm(1, 8)", "(2, 0)", True),
        ("nn.InstanceNorm1d(8)", "(2, 0)", True),
        ("nn.Identity()", "(1, 1)", True),
        ("nn.Identity()", "(2, 0)", False),
        ("nn.BatchNorm1d(8).eval()", "(2, 0)", False),
    ],
)
def test_a_layer_that_sees_later_positions(
    tmp_path: Path, program: str, line: int, norm: str, pad: str, leaks: bool
) -> None:
    script = tmp_path / "train.py"
    script.write_text(program.format(norm=norm, pad=pad))
    found = [one.at.line for one in findings_of_run(script) if one.code == "TL607"]
    assert found == ([line] if leaks else [])
