"""A program may name its functions and methods as values name what happens to them: that is no operation of torch's."""

from __future__ import annotations

from pathlib import Path

import pytest

from trainlint.check.analysis import Source, analyse
from trainlint.facts.api.operations import OWN_NAMES
from trainlint.facts.api.torch_names import operation

_TRAINING = """\
import torch
from torch import nn
from torch.nn import functional as F

def train(head, optimizer, loader):
    model = nn.Linear(4, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        {line}
        loss.backward()
        optimizer.step()
"""


def codes(line: str, folder: Path) -> set[str]:
    file = folder / "train.py"
    file.write_text(_TRAINING.format(line=line))
    analysis = analyse([Source(str(file))], jobs=1)
    assert analysis.problems == ()
    return {one.code for one in analysis.findings if one.level == "error"}


@pytest.mark.parametrize(
    "line",
    [
        "loss = head.output(model(x), y).sum()",
        "loss = head.linear(model(x), y)",
        "loss = F.cross_entropy(F.alias(), y)",
        "loss = F.cross_entropy(torch.grad() + torch.data(), y)",
        "loss = F.cross_entropy(head.stack(model(x).softmax(-1)), y)",
        "loss = F.cross_entropy(head.output(model(x).softmax(-1)), y)",
    ],
)
def test_own_names_say_nothing(line: str, tmp_path: Path) -> None:
    assert codes(line, tmp_path) == set()


@pytest.mark.parametrize(
    "line",
    [
        "loss = F.cross_entropy(torch.stack([model(x).softmax(-1)]), y)",
        "loss = F.cross_entropy(model(x).softmax(-1).view(-1, 4), y)",
    ],
)
def test_names_of_torch_are_known(line: str, tmp_path: Path) -> None:
    assert codes(line, tmp_path) == {"TL101"}


@pytest.mark.parametrize("name", sorted(OWN_NAMES))
def test_no_function_makes_what_values_make(name: str) -> None:
    assert operation(name) not in OWN_NAMES
    assert operation(f"torch.{name}") not in OWN_NAMES
