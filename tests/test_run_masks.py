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


_PADDED = """\
import torch
from torch import nn
from torch.nn import functional as F
torch.manual_seed(0)
class Batch:
    def __init__(self, count):
        self.lengths = torch.randint(2, 8, (count,))
        self.tokens = torch.zeros(count, 8, dtype=torch.long)
        for row, length in zip(self.tokens, self.lengths.tolist()):
            row[:length] = torch.randint(1, 9, (length,))
        self.features = F.one_hot(self.tokens, 9)[..., 1:].float()
        self.mask = torch.from_numpy(self.tokens.numpy() {holds})
        self.labels = torch.randint(3, (count,))
class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.first = nn.Embedding(9, 8), nn.Linear(8, 8)
        self.attend, self.out = nn.MultiheadAttention(8, 2, batch_first=True), nn.Linear(8, 3)
    def forward(self, batch):
        {look}
        scores = x @ x.transpose(1, 2) / 8 ** 0.5
        mask = batch.mask
        {mixed}
        return self.out(x.mean(1))
model = Reader()
optimizer = torch.optim.Adam(model.parameters(), 1e-2)
for i in range(3):
    batch = Batch(16)
    loss = F.cross_entropy(model(batch), batch.labels)
    optimizer.zero_grad(); loss.backward(); optimizer.step()
"""
_TOKENS = "x = self.embed(batch.tokens) + self.first(torch.randn(8))"
_HIDES = {  # with a mask that is True at padding
    "x = self.attend(x, x, x, key_padding_mask=mask)[0]": "",
    "x = F.scaled_dot_product_attention(x, x, x, attn_mask=~mask[:, None, :])": "",
    "x = scores.masked_fill(mask[:, None, :], -1e9).softmax(-1) @ x": "",
    "x = torch.where(mask[:, None, :], -1e9, scores).softmax(-1) @ x": "",
    "x = (scores + mask[:, None, :] * -1e9).softmax(-1) @ x": "",
}


def _polarity(folder: Path, look: str, mixed: str, holds: str) -> list[tuple[int, str | None]]:
    script = folder / "train.py"
    script.write_text(_PADDED.format(look=look, mixed=mixed, holds=holds))
    return [(one.at.line, one.level) for one in findings_of_run(script) if one.code == "TL604"]


@pytest.mark.parametrize("mixed", _HIDES)
def test_a_mask_that_leaves_the_padding_of_its_batch_is_inverted(tmp_path: Path, mixed: str) -> None:
    assert _polarity(tmp_path, _TOKENS, mixed, "!= 0") == [(23, "error")]
    assert _polarity(tmp_path, _TOKENS, mixed, "== 0") == []
    assert _polarity(tmp_path, _TOKENS, mixed, "== 3") == []


_GIVEN = """\
import torch
from torch import nn
from torch.nn import functional as F
torch.manual_seed(0)
class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.out = nn.Linear(6, 8), nn.Linear(8, 3)
        self.attend = nn.MultiheadAttention(8, 2, batch_first=True)
    def forward(self, notes, mask, lengths=None):
        x = self.first(notes)
        x = self.attend(x, x, x, key_padding_mask=mask)[0]
        return self.out(x.mean(1))
model = Reader()
optimizer = torch.optim.Adam(model.parameters(), 1e-2)
for i in range(3):
    lengths, labels = torch.randint(2, 8, (16,)), torch.randint(3, (16,))
    real = torch.arange(8) < lengths[:, None]
    loss = F.cross_entropy(model({given}), labels)
    optimizer.zero_grad(); loss.backward(); optimizer.step()
"""


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("torch.randn(16, 8, 6) * real[..., None], torch.from_numpy(real.numpy())", [12]),
        ("torch.randn(16, 8, 6) * real[..., None], torch.from_numpy(real.logical_not().numpy())", []),
        ("torch.randn(16, 8, 6), torch.from_numpy(real.numpy()), lengths", [12]),
        ("torch.randn(16, 8, 6), torch.from_numpy(real.logical_not().numpy()), lengths", []),
        ("torch.randn(16, 8, 6), torch.from_numpy(real.numpy())", []),
        ("torch.randn(16, 8, 6), torch.from_numpy(real.float().numpy()), lengths", [12]),
        ("torch.randn(16, 8, 6), torch.from_numpy((real * 1.5).numpy()).float(), lengths", []),
    ],
)
def test_padding_is_seen_in_features_and_in_lengths(tmp_path: Path, given: str, found: list[int]) -> None:
    script = tmp_path / "train.py"
    script.write_text(_GIVEN.format(given=given))
    assert [one.at.line for one in findings_of_run(script) if one.code == "TL604"] == found


@pytest.mark.parametrize(
    ("mask", "found"),
    [
        ("np.tril(np.ones((6, 6), bool))", [("TL604", 10)]),
        ("np.triu(np.ones((6, 6), bool), 1)", []),
        ("np.array([[k > q + 1 for k in range(6)] for q in range(6)])", [("TL603", 10)]),
        ("np.array([[k > q for k in range(6)] for q in range(6)])", []),
        ("np.eye(6, dtype=bool)", []),
    ],
)
def test_a_mask_of_numpy_that_leaves_later_keys(
    tmp_path: Path, mask: str, found: list[tuple[str, int]]
) -> None:
    script = tmp_path / "train.py"
    script.write_text(
        f"""\
import numpy as np, torch
from torch import nn
torch.manual_seed(0)
first, out = nn.Linear(4, 8), nn.Linear(8, 4)
optimizer = torch.optim.Adam([*first.parameters(), *out.parameters()], 1e-2)
hidden = torch.from_numpy({mask})
for i in range(3):
    x = first(torch.randn(5, 6, 4))
    scores = x @ x.transpose(1, 2)
    x = out(scores.masked_fill(hidden, -1e9).softmax(-1) @ x)
    loss = x.square().mean()
    optimizer.zero_grad(); loss.backward(); optimizer.step()
"""
    )
    seen = [(one.code, one.at.line) for one in findings_of_run(script) if one.code in ("TL603", "TL604")]
    assert seen == found
