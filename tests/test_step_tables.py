"""The tables of a recorded step: true numbers, models apart, alike modules as one row, nothing odd left out."""

from __future__ import annotations

import json
import math
from pathlib import Path

from tests.in_process import recorded
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.seen.losses import LossSeen
from trainlint.facts.seen.masks import MasksMet
from trainlint.output.json_run import run_as_json
from trainlint.output.step_report import step_report
from trainlint.output.style import plain

BLOCKS = """\
import torch
from torch import nn
torch.manual_seed(0)
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(8, 16), nn.Linear(16, 8)
        nn.init.zeros_(self.down.weight)
    def forward(self, x):
        scores = (x @ x.T).masked_fill(torch.ones(16, 16).triu(1).bool(), float("-inf"))
        return x + self.down(self.up(scores.softmax(-1) @ x).relu())
class Tower(nn.Module):
    def __init__(self, last):
        super().__init__()
        self.blocks = nn.ModuleList(Block() for _ in range(25))
        self.idle = nn.Linear(8, 8)
        self.head = nn.Linear(8, last)
    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(x)
first, second = Tower(4), Tower(1)
optimizer = torch.optim.AdamW([*first.parameters(), *second.parameters()], 1e-3)
for _ in range(6):
    x = torch.randn(16, 8)
    y = x[:, :1] * 3
    kind = nn.functional.cross_entropy(first(x), x[:, :4].argmax(1))
    size = nn.functional.mse_loss(second(x), y)
    optimizer.zero_grad()
    (kind + size).backward()
    optimizer.step()
"""


def _run(program: str, folder: Path, steps: int) -> Recorded:
    script = folder / "train.py"
    script.write_text(program, encoding="utf-8")
    return recorded(script, steps)


def test_a_report_of_two_deep_models(tmp_path: Path) -> None:
    run = _run(BLOCKS, tmp_path, 2)
    text = plain(step_report(run, ()))
    rows = {line.split("  ")[1]: line for line in text.splitlines() if line.startswith("  ")}
    for model in ("Tower#1", "Tower#2"):
        assert " 50 " in rows[f"{model}: blocks.*.up (25 alike)"]
        assert " to " in rows[f"{model}: blocks.*.down (25 alike)"]
        assert "(starts at 0)" in rows[f"{model}: blocks.*.down (25 alike)"]
        assert f"{model}: idle" in rows
        assert f"{model}: head" in rows
    assert "more" not in rows

    losses = run.facts(LossSeen)
    classes, error = (
        [one for one in losses if one.name == f"F.{name}"] for name in ("cross_entropy", "mse_loss")
    )
    assert [one.step for one in classes] == [0, 1, 2]
    assert {one.guessing for one in classes} == {math.log(4)}
    assert all(5 < (one.guessing or 0) < 15 for one in error)  # the variance of three times a standard normal
    total = [one.value for one in losses if one.name == "backward()"]
    assert [round(one.value + other.value, 4) for one, other in zip(classes, error, strict=True)] == [
        round(one, 4) for one in total
    ]
    assert "(log of 4 classes)" in text
    said = json.loads(json.dumps(run_as_json(run, ())))
    assert [one["value"] for one in said["losses"] if one["name"] == "backward()"] == total

    assert [one.times for one in run.facts(MasksMet)] == [2 * 25 * 3]
    assert "150 masks here" in text


def test_what_has_no_guess_or_no_way_is_not_made_up(tmp_path: Path) -> None:
    program = """\
import torch
from torch import nn
weight = torch.zeros(3, requires_grad=True)
bias = torch.zeros(3, requires_grad=True)
optimizer = torch.optim.SGD([weight, bias], lr=0.1)
for _ in range(3):
    loss = nn.functional.cross_entropy(weight.expand(4, 3), torch.tensor([0, 1, 2, 0]), weight=torch.ones(3))
    optimizer.zero_grad(); loss.backward(); optimizer.step()
"""
    run = _run(program, tmp_path, 1)
    assert {one.guessing for one in run.facts(LossSeen)} == {None}
    text = plain(step_report(run, ()))
    assert "guessing" not in text
    assert "Where gradients are lost" not in text
    assert [line.split()[0] for line in text.splitlines() if line.startswith(("  weight", "  bias"))] == [
        "weight",
        "bias",
    ]
