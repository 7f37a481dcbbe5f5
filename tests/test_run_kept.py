"""Losses that a program's lists keep from one step to the next."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.in_process import findings_of_run

_METER = """\
import torch
from collections import deque
from torch import nn
torch.manual_seed(0)
class Meter:
    def __init__(self):
        self.values, self.last = {{}}, deque(maxlen=2)
    def add(self, **given):
        for name, value in given.items():
            {keep}
model, meter = nn.Linear(8, 1), Meter()
optimizer = torch.optim.SGD(model.parameters(), 1e-2)
for i in range(3):
    parts = []
    x = torch.randn(16, 8)
    parts.append(nn.functional.mse_loss(model(x), x[:, :1]))
    loss = sum(parts)
    optimizer.zero_grad(); loss.backward(); optimizer.step()
    meter.add(loss={value})
"""
_APPENDS = "self.values.setdefault(name, []).append(value)"


@pytest.mark.parametrize(
    ("keep", "value", "is_found"),
    [
        (_APPENDS, "loss", True),
        ("vars(self).setdefault('all', deque()).append(value)", "parts[0]", True),
        (_APPENDS, "loss.detach()", False),
        (_APPENDS, "loss.item()", False),
        ("self.values[name] = value", "loss", False),
        ("self.last.append(value)", "loss", False),
        (_APPENDS, "model(x).mean().detach()", False),
    ],
)
def test_a_list_grows_by_a_graph_with_each_step(
    tmp_path: Path, keep: str, value: str, is_found: bool
) -> None:
    script = tmp_path / "train.py"
    script.write_text(_METER.format(keep=keep, value=value))
    found = [one for one in findings_of_run(script) if one.code == "TL205" and one.verdict == "observed"]
    assert [one.verdict for one in found] == (["observed"] if is_found else [])
