"""Optimizers of a program's own that keep something beside their state."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.in_process import findings_of_run

_OWN = """\
import torch
from torch import nn
torch.manual_seed(0)
class Own(torch.optim.Optimizer):
    def __init__(self, params, lr):
        super().__init__(params, dict(lr=lr, count=0))
        self.count = 0
        self.moments = [torch.zeros_like(p) for group in self.param_groups for p in group["params"]]
    @torch.no_grad()
    def step(self, closure=None):
        self.count += 1
        for group in self.param_groups:
            group["count"] += 1
            for p, moment in zip(group["params"], self.moments):
                {update}
    {more}
model = nn.Linear(8, 2)
optimizer = Own(model.parameters(), lr=1e-2)
{schedule}
for i in range(3):
    x = torch.randn(16, 8)
    loss = nn.functional.cross_entropy(model(x), (x[:, 0] > 0).long())
    optimizer.zero_grad(); loss.backward(); optimizer.step()
"""
_COUNTS = "p -= group['lr'] / self.count * p.grad"
_SAVES = """def state_dict(self):
        return {**super().state_dict(), "count": self.count}
    def load_state_dict(self, state):
        self.count = state.pop("count")
        super().load_state_dict(state)"""
_SCHEDULE = "schedule = torch.optim.lr_scheduler.StepLR(optimizer, 5)"


@pytest.mark.parametrize(
    ("update", "more", "is_found"),
    [
        (_COUNTS, "", True),
        ("moment.mul_(0.9).add_(p.grad); p -= group['lr'] * moment", "", True),
        (_COUNTS, _SAVES, False),
        ("p -= group['lr'] / group['count'] * p.grad", "", False),
        (
            "p -= group['lr'] * self.state[p].setdefault('m', torch.zeros_like(p)).mul_(0.9).add_(p.grad)",
            "",
            False,
        ),
        ("p -= group['lr'] * p.grad", "", False),
    ],
)
@pytest.mark.parametrize("schedule", ["", _SCHEDULE])
def test_a_step_goes_on_from_what_the_state_does_not_hold(
    tmp_path: Path, update: str, more: str, is_found: bool, schedule: str
) -> None:
    script = tmp_path / "train.py"
    script.write_text(_OWN.format(update=update, more=more, schedule=schedule))
    found = [one.at.line for one in findings_of_run(script) if one.code == "TL917"]
    assert found == ([6] if is_found else [])
