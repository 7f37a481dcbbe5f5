"""What an optimizer does to parameters: torch's own is not looked at, one of the program's is."""

from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("torch")

from tests.in_process import recorded
from trainlint.trace.watch.operations import Operations

PROGRAM = """
import torch
from torch import nn

class Plain(torch.optim.Optimizer):
    def __init__(self, params):
        super().__init__(params, {{}})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for one in group["params"]:
                one.sub_(0.1 * one.grad)

class Loud(torch.optim.SGD):
    def zero_grad(self, set_to_none=True):
        super().zero_grad(set_to_none)

model = nn.Linear(2, 2)
optimizer = {made}
for _ in range(3):
    optimizer.zero_grad()
    loss = model(torch.ones(4, 2)).exp().mean()
    loss.backward()
    {step}
"""


@pytest.mark.parametrize(
    ("made", "is_looked_at"),
    [
        ("torch.optim.SGD(model.parameters(), lr=0.1, foreach=False)", False),
        ("Loud(model.parameters(), lr=0.1, foreach=False)", False),
        ("Plain(model.parameters())", True),
    ],
)
def test_whose_arithmetic_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: str, is_looked_at: bool
) -> None:
    heard = operations(tmp_path, monkeypatch, made, "optimizer.step()")
    assert heard["exp"] >= 1
    assert bool(heard["-"] or heard["+"]) is is_looked_at, heard


def test_a_step_that_raises_leaves_what_comes_after_it_heard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = "torch.optim.SGD(model.parameters(), lr=0.1, foreach=False)"
    fails = """try:
        lr = optimizer.param_groups[0].pop("lr") if _ == 0 else None
        optimizer.step()
    except KeyError:
        optimizer.param_groups[0]["lr"] = 0.1"""
    heard = operations(tmp_path, monkeypatch, made, fails)
    assert heard["exp"] == 3


def operations(folder: Path, monkeypatch: pytest.MonkeyPatch, made: str, step: str) -> Counter[str]:
    heard: Counter[str] = Counter()
    returned = Operations.returned

    def noting(self, name, args, kwargs, result):  # type: ignore[no-untyped-def]
        heard[name.text] += 1
        return returned(self, name, args, kwargs, result)

    monkeypatch.setattr(Operations, "returned", noting)
    script = folder / "train.py"
    script.write_text(PROGRAM.format(made=made, step=step))
    recorded(script)
    return heard
