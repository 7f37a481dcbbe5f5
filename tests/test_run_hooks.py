"""What is done with gradients by hooks around an optimizer's step and by hand: before it, or when it has used them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.in_process import findings_of_run

_HOOKED = """\
import torch
from torch import nn
torch.manual_seed(0)
model = nn.Linear(8, 2)
optimizer = torch.optim.{optimizer}(model.parameters(), lr=1e-2)
def clip(optimizer, args, kwargs):
    held = [one for group in optimizer.param_groups for one in group["params"]]
    torch.nn.utils.clip_grad_norm_(held, 0.5)
def clear(optimizer, args, kwargs):
    optimizer.zero_grad()
def clear_model(optimizer, args, kwargs):
    model.zero_grad()
{hooks}
for i in range(3):
    x = torch.randn(16, 8)
    loss = (model(x) - x[:, :2]).square().mean()
    loss.backward()
    optimizer.step()
    {after}
"""
_ADD = "getattr(optimizer, 'register_step_{}_hook')({})"


@pytest.mark.parametrize(
    ("hooks", "after", "found"),
    [
        ([("post", "clip")], "optimizer.zero_grad()", [("TL313", 8)]),
        ([("pre", "clip")], "optimizer.zero_grad()", []),
        ([("post", "clear")], "", []),
        ([("post", "clear_model")], "", []),
        ([("pre", "clip"), ("post", "clear")], "", []),
        ([("pre", "clear")], "", []),
        ([("post", "clip"), ("post", "clear")], "", [("TL313", 8)]),
    ],
)
@pytest.mark.parametrize("optimizer", ["SGD", "AdamW"])
def test_what_a_hook_does_comes_before_or_after_the_step(
    tmp_path: Path, hooks: list[tuple[str, str]], after: str, found: list[tuple[str, int]], optimizer: str
) -> None:
    script = tmp_path / "train.py"
    added = "\n".join(_ADD.format(*one) for one in hooks)
    script.write_text(_HOOKED.format(hooks=added, after=after, optimizer=optimizer))
    codes = ("TL301", "TL302", "TL303", "TL313")
    seen = [
        (one.code, one.at.line)
        for one in findings_of_run(script)
        if one.code in codes and one.verdict != "refuted"
    ]
    assert seen == found


_BY_HAND = """\
import torch
from torch import nn
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
for i in range(3):
    x = torch.randn(16, 8)
    loss = (model(x) - x[:, :2]).square().mean()
    optimizer.zero_grad()
    loss.backward()
    {first}
    {then}
"""


@pytest.mark.parametrize(
    "clamp",
    [
        "for one in model.parameters(): one.grad.data.clamp_(-1, 1)",
        "[one.grad.clip_(-1, 1) for one in model.parameters()]",
    ],
)
def test_gradients_are_clamped_by_hand(tmp_path: Path, clamp: str) -> None:
    script = tmp_path / "train.py"
    for first, then, lines in (
        ("optimizer.step()", clamp, [12]),
        (clamp, "optimizer.step()", []),
        ("optimizer.step()", "for one in model.parameters(): one.data.clamp_(-1, 1)", []),
    ):
        script.write_text(_BY_HAND.format(first=first, then=then))
        assert [one.at.line for one in findings_of_run(script) if one.code == "TL313"] == lines
