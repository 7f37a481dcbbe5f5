"""Gradients with NaN that a program leaves out or mends before it steps."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.in_process import findings_of_run

_GUARDED = """\
import torch
from torch import nn
torch.manual_seed(0)
model = nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), 1e-2)
def distance(a, b):
    squared = (a - b).square().sum(-1)
    return {root}
for i in range(40):
    x = torch.randn(8, 4)
    others = torch.roll(x, 1, 0) if i % 2 else x
    loss = distance(model(x), model(others)).mean()
    optimizer.zero_grad()
    loss.backward()
    {guard}
"""
_LEFT_OUT = "all(one.grad.isfinite().all() for one in model.parameters()) and optimizer.step()"
_MENDED = "[one.grad.nan_to_num_(0) for one in model.parameters()]; optimizer.step()"


@pytest.mark.parametrize("guard", [_LEFT_OUT, _MENDED])
@pytest.mark.parametrize(
    ("root", "is_found"),
    [
        ("torch.sqrt(squared)", True),
        ("squared ** 0.5", True),
        ("torch.where(squared > 0, squared.sqrt(), squared)", True),
        ("torch.sqrt(squared + 1e-8)", False),
        ("squared.clamp(min=1e-8) ** 0.5", False),
        ("squared ** 2", False),
    ],
)
def test_a_step_without_finite_gradients_is_left_out(
    tmp_path: Path, guard: str, root: str, is_found: bool
) -> None:
    script = tmp_path / "train.py"
    script.write_text(_GUARDED.format(guard=guard, root=root))
    found = [(one.at.line, one.level) for one in findings_of_run(script) if one.code == "TL212"]
    assert found == ([(8, "warning")] if is_found else [])
