"""What a run says of gradients that never came, and of those that came and were cleared."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.in_process import findings_of_run
from trainlint.finding import Finding

SAMPLED = """\
import torch
from torch import nn
torch.manual_seed(0)
class Blurred(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.spread, self.outer = nn.Linear(6, 2), nn.Linear(6, 2), nn.Linear(2, 6)
    def forward(self, rows):
        middle = self.inner(rows)
        return self.outer(middle + torch.randn_like(middle) * self.spread(rows).exp())
net = Blurred()
optimizer = torch.optim.Adam(net.parameters(), 1e-3)
for _ in range(4):
    rows = torch.randn(16, 6)
    STEP
"""

GUESSES = """\
import torch
from torch import nn
torch.manual_seed(0)
class Player(nn.Module):
    def __init__(self):
        super().__init__()
        self.net, self.kept = nn.Linear(4, 2), []
    def choose(self, state):
        dist = torch.distributions.Categorical(logits=self.net(state))
        move = dist.sample()
        self.kept.append(dist.log_prob(move)READ)
        return move.item()
player = Player()
optimizer = torch.optim.Adam(player.parameters(), 1e-2)
for _ in range(4):
    for _ in range(5): player.choose(torch.randn(4))
    gains = torch.randn(5)
    kept = JOINED
    loss = LOSS
    optimizer.zero_grad(); loss.backward(); optimizer.step()
    player.kept.clear()
"""


def _of(program: str, folder: Path) -> list[Finding]:
    script = folder / "train.py"
    script.write_text(program, encoding="utf-8")
    return findings_of_run(script)


@pytest.mark.parametrize(
    "step",
    [
        "loss = (net(rows) - rows).square().mean(); loss.backward(); optimizer.zero_grad(); optimizer.step()",
        "(net(rows) - rows).square().mean().backward()\n"
        "    for one in net.parameters(): one.grad = None\n"
        "    optimizer.step()",
        "(net(rows) - rows).square().mean().backward(); net.outer(torch.randn(3, 2)).mean().backward()\n"
        "    net.zero_grad(); optimizer.step()",
    ],
    ids=["by the optimizer", "by hand", "after two losses"],
)
def test_gradients_that_were_cleared_were_not_cut_off(step: str, tmp_path: Path) -> None:
    assert [one.at.line for one in _of(SAMPLED.replace("STEP", step), tmp_path) if one.code == "TL210"] == []


def test_a_last_loss_that_is_cut_off_is_named(tmp_path: Path) -> None:
    step = (
        "optimizer.zero_grad(); net(rows).mean().backward(); optimizer.zero_grad()\n"
        "    shifted = (net(rows).detach() * rows.requires_grad_()).mean()\n"
        "    shifted.backward(); optimizer.step()"
    )
    (found,) = [one for one in _of(SAMPLED.replace("STEP", step), tmp_path) if one.code == "TL210"]
    assert "detach" in found.message
    assert found.at.line == 17


def test_what_numbers_a_loss_is_made_of_is_open(tmp_path: Path) -> None:
    program = GUESSES.replace("READ", ".item()").replace("JOINED", "torch.tensor(player.kept)")
    cut = program.replace("LOSS", "torch.tensor(-(kept * gains).sum().item(), requires_grad=True)")
    found = _of(cut, tmp_path)
    assert [(one.at.line, one.verdict) for one in found if one.code == "TL201"] == [(18, "undecided")]
    assert [one.at.line for one in found if one.code == "TL203"] == [19]
    (starved,) = [one for one in found if one.code == "TL210"]
    assert "plain numbers" in starved.message
    assert [one.at.line for one in starved.because] == [11, 20]


def test_a_loss_of_the_tensors_themselves(tmp_path: Path) -> None:
    program = GUESSES.replace("READ", "").replace("JOINED", "torch.stack(player.kept)")
    found = _of(program.replace("LOSS", "-(kept * gains).sum()"), tmp_path)
    assert {one.code for one in found}.isdisjoint({"TL201", "TL203", "TL210"})


def test_a_loss_that_an_unused_layer_has_no_part_in(tmp_path: Path) -> None:
    program = GUESSES.replace("READ", "").replace("JOINED", "torch.stack(player.kept)")
    more = program.replace("self.net,", "self.net, self.spare,").replace(
        "nn.Linear(4, 2), []", "nn.Linear(4, 2), nn.Linear(4, 9), []"
    )
    noted = more.replace("LOSS", "-(kept * gains).sum() + torch.tensor(kept.sum().item())")
    messages = [one.message for one in _of(noted, tmp_path) if one.code == "TL210"]
    assert messages
    assert not any("plain numbers" in one for one in messages)
