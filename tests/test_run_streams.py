"""Streams that several workers read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.run_command import found, run, write

_STREAM = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset, get_worker_info
class Stream(IterableDataset):
    def __iter__(self):
        told = get_worker_info()
        number, workers = (told.id, told.num_workers) if told else (0, 1)
        for i in {numbers}:
            x = {sample}
            yield x, (x[0] > 0).long()
def main():
    torch.manual_seed(0)
    model = nn.Linear(4, 2)
    optimizer = torch.optim.Adam(model.parameters())
    for x, y in DataLoader(Stream(), batch_size=10, num_workers={workers}):
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad(); loss.backward(); optimizer.step()
if __name__ == "__main__":
    main()
"""
_SEEDED = "torch.randn(4, generator=torch.Generator().manual_seed(i))"


@pytest.mark.parametrize(
    ("numbers", "sample", "workers", "codes"),
    [
        ("range(100)", _SEEDED, 2, [("TL521", 15, "observed")]),
        ("range(number, 100, workers)", _SEEDED, 2, []),
        ("range(100)", "torch.randn(4)", 2, []),
        ("range(100)", _SEEDED, 1, []),
    ],
)
def test_workers_that_give_the_same_batches(
    tmp_path: Path, numbers: str, sample: str, workers: int, codes: list[tuple[str, int, str]]
) -> None:
    write(tmp_path, {"train.py": _STREAM.format(numbers=numbers, sample=sample, workers=workers)})
    run(tmp_path, "train.py")
    assert [one for one in found(tmp_path) if one[0] == "TL521"] == codes
