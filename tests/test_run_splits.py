"""Samples that were scaled before they were split, as the data themselves show."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.in_process import findings_of_run

_PREPARED = """\
import numpy as np, torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, Subset, TensorDataset
torch.manual_seed(0)
rng = np.random.default_rng(0)
features = rng.normal(3.0, 2.0, size=(200, 4))
labels = torch.from_numpy((features[:, 0] > 3).astype(np.int64))
def scale(rows, by):
    return (rows - by.mean(0)) / by.std(0)
class Table(Dataset):
    def __init__(self, x, y):
        self.x, self.y = x, y
    def __len__(self):
        return len(self.y)
    def __getitem__(self, i):
        return self.x[i], self.y[i]
def prepared():
    {prepare}
    return train, held
model = nn.Linear(4, 2)
optimizer = torch.optim.Adam(model.parameters())
def fit(train, held):
    for i in range(3):
        for x, y in DataLoader(train, batch_size=30):
            loss = nn.functional.cross_entropy(model(x.float()), y)
            optimizer.zero_grad(); loss.backward(); optimizer.step()
fit(*prepared())
"""
_SUBSETS = "x = torch.from_numpy({}); train, held = (Subset(TensorDataset(x, labels), part) for part in ({}))"


@pytest.mark.parametrize(
    ("prepare", "is_found"),
    [
        (
            "x = scale(features, features); train, held = Table(x[:150], labels[:150]), Table(x[150:], labels[150:])",
            True,
        ),
        (_SUBSETS.format("scale(features, features)", "range(150), range(150, 200)"), True),
        (
            "x = torch.from_numpy(scale(features, features)).float(); "
            "train, _, held = (TensorDataset(x[k::4], labels[k::4]) for k in range(3)); held = [_, held, x[3::4]]",
            False,
        ),
        (_SUBSETS.format("scale(features, features[:150])", "range(150), range(150, 200)"), False),
        (_SUBSETS.format("features / 2 - 1.5", "range(150), range(150, 200)"), False),
        (_SUBSETS.format("scale(features, features)", "range(200), range(150, 200)"), False),
        (
            "x = scale(features[:150], features[:150]); held = scale(features[150:], features[150:]); "
            "train = Table(x, labels[:150])",
            False,
        ),
        (
            "x = torch.from_numpy(scale(features, features)); train = TensorDataset(x[:150], labels[:150]); held = None",
            False,
        ),
    ],
)
def test_parts_that_were_scaled_together(tmp_path: Path, prepare: str, is_found: bool) -> None:
    script = tmp_path / "train.py"
    script.write_text(_PREPARED.format(prepare=prepare))
    found = [(one.at.line, one.level) for one in findings_of_run(script) if one.code == "TL508"]
    assert found == ([(25, "warning")] if is_found else [])
