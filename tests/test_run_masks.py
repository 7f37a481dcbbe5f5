"""Masks that only a run can tell from other factors."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.in_process import findings_of_run

_POOLED = """\
import torch
from torch import nn
from torch.nn.functional import one_hot
torch.manual_seed(0)
rate, out = nn.Linear(6, 1), nn.Linear(6, 3)
optimizer = torch.optim.Adam([*rate.parameters(), *out.parameters()], 1e-2)
def drawn(count):
    lengths = torch.randint(2, 8, (count,))
    return torch.randn(count, 8, 6), (torch.arange(8) < lengths[:, None]).float(), torch.randint(3, (count,))
for i in range(3):
    notes, there, labels = drawn(16)
    scores = rate(notes).squeeze(-1)
    {weights}
    pooled = torch.einsum("bn,bnd->bd", weights, notes)
    loss = nn.functional.cross_entropy(out(pooled), labels)
    optimizer.zero_grad(); loss.backward(); optimizer.step()
"""


@pytest.mark.parametrize(
    "weights",
    [
        "weights = scores.softmax(1) * there",
        "weights = there * nn.functional.dropout(scores.softmax(dim=-1), 0.1)",
    ],
)
def test_weights_are_lost_to_a_factor_that_the_run_knows_for_a_mask(tmp_path: Path, weights: str) -> None:
    script = tmp_path / "train.py"
    script.write_text(_POOLED.format(weights=weights))
    found = [one for one in findings_of_run(script) if one.code == "TL602"]
    assert [(one.at.line, one.level) for one in found] == [(13, "error")]


@pytest.mark.parametrize(
    "weights",
    [
        "weights = scores.softmax(1) * there; weights = weights / weights.sum(1, keepdim=True)",
        "weights = scores.masked_fill(there == 0, -1e9).softmax(1) * there",
        "weights = scores.softmax(1) * (there + 0.5)",
        "weights = scores.softmax(1) * torch.ones_like(there)",
        "weights = scores.softmax(1) * (labels > 0).float()[:, None]",
        "weights = scores.softmax(1); weights = weights * one_hot(weights.topk(2).indices, 8).sum(1)",
    ],
)
def test_nothing_is_lost_where_it_is_given_back_or_meant(tmp_path: Path, weights: str) -> None:
    script = tmp_path / "train.py"
    script.write_text(_POOLED.format(weights=weights))
    assert "TL602" not in [one.code for one in findings_of_run(script)]
