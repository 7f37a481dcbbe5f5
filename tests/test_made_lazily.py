"""A layer that a forward makes where it is not there yet: it is not made where it certainly is."""

from __future__ import annotations

import pytest

from trainlint.check.analysis import Source, analyse
from trainlint.facts.model.events.modules import Built
from trainlint.facts.model.training import Training
from trainlint.finding import Problem
from trainlint.judging import Judged, judged

PROGRAM = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, size=None):
        super().__init__()
        self.head = None
        if size is not None:
            self.head = nn.Linear(size, 8)

    def forward(self, x):
        if self.head is None:
            self.head = nn.Linear(x.size(1), 8)
        return self.head(x)


def train(x, y):
    net = Net({size})
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        nn.functional.mse_loss(net(x), y).backward()
        optimizer.step()
"""


@pytest.mark.parametrize(("size", "lines"), [("4", []), ("", [14]), ("make_size()", [14])])
def test_layer_is_made_where_it_may_be_missing(
    monkeypatch: pytest.MonkeyPatch, size: str, lines: list[int]
) -> None:
    made: list[int] = []

    def noting(training: Training, problems: dict[Problem, None]) -> Judged:
        if training.name == "train":
            made.extend(one.at.line for one in training.events(Built) if one.within is not None)
        return judged(training, problems)

    monkeypatch.setattr("trainlint.program.incremental.evaluating.judged", noting)
    analyse([Source("train.py", PROGRAM.format(size=size).encode())], jobs=1)
    assert made == lines
