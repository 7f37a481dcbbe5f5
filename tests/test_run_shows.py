"""Bugs that only a run can show, each found where it is, and a sound twin in which the same rule is silent."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.in_process import findings_of_run, recorded
from trainlint.facts.seen.optimizers import OptimizerSeen
from trainlint.facts.seen.parameters import ParameterSeen
from trainlint.finding import Finding

LOOSE = """\
import torch
from torch import nn
torch.manual_seed(0)
model = nn.Linear(8, 2)
log_vars = [torch.zeros(1, requires_grad=True) for _ in range(2)]
optimizer = torch.optim.Adam([*model.parameters(), *log_vars], 1e-3)
for i in range(4):
    x = torch.randn(16, 8)
    out = model(x)
    loss = sum(
        (out[:, k] - x[:, k]).square().mean() * torch.exp(-log_vars[k].detach()).squeeze()
        for k in range(2)
    )
    optimizer.zero_grad(); loss.backward(); optimizer.step()
"""

USED_AS_FUNCTION = """\
import torch
from torch import nn
torch.manual_seed(0)
model, extra = nn.Linear(8, 2), nn.Linear(8, 2)
optimizer = torch.optim.Adam([*model.parameters(), *extra.parameters()], 1e-3)
for i in range(4):
    x = torch.randn(16, 8)
    more = nn.functional.linear(x, extra.weight, extra.bias).detach()
    loss = (model(x) + more - x[:, :2]).square().mean()
    optimizer.zero_grad(); loss.backward(); optimizer.step()
"""

SIGN_OF_WEIGHT = """\
import torch
from torch import nn
class SignLinear(nn.Linear):
    def forward(self, x):
        return nn.functional.linear(x, torch.sign(self.weight), self.bias)
torch.manual_seed(0)
model = nn.Sequential(SignLinear(16, 32), nn.ReLU(), nn.Linear(32, 3))
optimizer = torch.optim.Adam(model.parameters(), 1e-3)
for _ in range(4):
    x = torch.randn(64, 16); y = x[:, :3].argmax(1)
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad(); loss.backward(); optimizer.step()
"""
ROUNDED_WEIGHT = SIGN_OF_WEIGHT.replace("torch.sign(self.weight)", "(self.weight * 16).round() / 16")

FROZEN = """\
import torch
from torch import nn
torch.manual_seed(0)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Linear(8, 32)
        self.bn = nn.BatchNorm1d(32)
        self.fc = nn.Linear(32, 4)
    def forward(self, x):
        return self.fc(self.bn(self.conv(x)).relu())
model = Net()
optimizer = torch.optim.Adam(model.fc.parameters(), 1e-3)
for name, p in model.named_parameters():
    if "bn" not in name:
        p.requires_grad = False
for _ in range(8):
    x = torch.randn(16, 8)
    loss = nn.functional.cross_entropy(model(x), x[:, :4].argmax(1))
    optimizer.zero_grad(); loss.backward(); optimizer.step()
"""

QUERY_MASK = """\
import torch
from torch import nn
torch.manual_seed(0)
class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(50, 16, padding_idx=0)
        self.qkv = nn.Linear(16, 48)
        self.out = nn.Linear(16, 4)
    def forward(self, ids):
        q, k, v = self.qkv(self.embed(ids)).view(6, 9, 3, 2, 8).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-2, -1) / 8**0.5
        mask = (ids != 0)[:, None, :, None]
        scores = scores.masked_fill(~mask, -1e9)
        return self.out((scores.softmax(-1) @ v).transpose(1, 2).reshape(6, 9, 16).mean(1))
model = Attention()
optimizer = torch.optim.Adam(model.parameters(), 1e-3)
for _ in range(4):
    ids = torch.randint(1, 50, (6, 9))
    for n in range(6):
        ids[n, 4 + n // 2:] = 0
    loss = nn.functional.cross_entropy(model(ids), ids[:, 0] % 4)
    optimizer.zero_grad(); loss.backward(); optimizer.step()
"""


@pytest.mark.parametrize(
    ("program", "code", "subjects"),
    [
        pytest.param(LOOSE, "TL210", {"log_vars[0]", "log_vars[1]"}, id="tensors in a list"),
        pytest.param(
            USED_AS_FUNCTION, "TL210", {"extra.weight", "extra.bias"}, id="layers used as functions"
        ),
        pytest.param(SIGN_OF_WEIGHT, "TL211", {"0"}, id="sign of a weight, live bias"),
        pytest.param(ROUNDED_WEIGHT, "TL211", {"0"}, id="rounded weight, live bias"),
        pytest.param(FROZEN, "TL309", {"bn"}, id="an optimizer of frozen parameters"),
        pytest.param(QUERY_MASK, "TL606", {None}, id="a padding mask on the queries"),
    ],
)
def test_a_bug_that_only_a_run_shows(
    program: str, code: str, subjects: set[str | None], tmp_path: Path
) -> None:
    found = _of(program, tmp_path, code)
    assert found
    assert {one.subject for one in found} <= {*subjects, None}, found


@pytest.mark.parametrize(
    ("program", "code"),
    [
        pytest.param(LOOSE.replace(".detach()", ""), "TL210", id="tensors in a list that learn"),
        pytest.param(
            USED_AS_FUNCTION.replace(".detach()", ""), "TL210", id="layers used as functions that learn"
        ),
        pytest.param(
            SIGN_OF_WEIGHT.replace(
                "torch.sign(self.weight)", "self.weight + (torch.sign(self.weight) - self.weight).detach()"
            ),
            "TL211",
            id="a straight-through estimator",
        ),
        pytest.param(
            FROZEN.replace("model.fc.parameters()", "model.bn.parameters()"), "TL309", id="what is not frozen"
        ),
        pytest.param(
            QUERY_MASK.replace("[:, None, :, None]", "[:, None, None, :]"), "TL606", id="on the keys"
        ),
        pytest.param(
            QUERY_MASK.replace(
                "        scores = scores.masked_fill(~mask, -1e9)\n",
                "        scores = scores.masked_fill((ids == 0)[:, None, None, :], -1e9)\n"
                "        scores = scores.masked_fill(~mask, -1e9)\n",
            ),
            "TL606",
            id="on both axes",
        ),
    ],
)
def test_its_sound_twin(program: str, code: str, tmp_path: Path) -> None:
    assert not _of(program, tmp_path, code)


def _of(program: str, folder: Path, code: str) -> list[Finding]:
    script = folder / "train.py"
    script.write_text(program, encoding="utf-8")
    return [one for one in findings_of_run(script) if one.code == code]


WRAPPED = """\
import torch
from torch import nn
class Wrapped(torch.optim.Optimizer):
    def __init__(self, inner): self.inner = inner
    @property
    def param_groups(self): return self.inner.param_groups
    @property
    def state(self): return self.inner.state
    @property
    def defaults(self): return self.inner.defaults
    def zero_grad(self, set_to_none=True): self.inner.zero_grad(set_to_none)
    def step(self, closure=None): return self.inner.step(closure)
torch.manual_seed(0)
model = nn.Linear(8, 3)
optimizer = Wrapped(torch.optim.SGD(model.parameters(), 0.1))
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda n: 1 / (n + 1))
for i in range(60):
    x = torch.randn(16, 8); y = x[:, :3].argmax(1)
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward(); optimizer.step(); scheduler.step()
"""

AROUND_A_BASE = """\
import torch
from torch import nn
class Around(torch.optim.Optimizer):
    def __init__(self, parameters, base):
        super().__init__(parameters, {})
        self.base = base(self.param_groups, lr=0.1)
        self.param_groups = self.base.param_groups
    def step(self, closure=None):
        return self.base.step()
torch.manual_seed(0)
model = nn.Linear(8, 3)
optimizer = Around(model.parameters(), torch.optim.SGD)
for i in range(60):
    x = torch.randn(16, 8); y = x[:, :3].argmax(1)
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward(); optimizer.step()
"""


@pytest.mark.parametrize("program", [WRAPPED, AROUND_A_BASE], ids=["bare wrapper", "made like an optimizer"])
def test_an_optimizer_around_another_is_that_one(program: str, tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(program, encoding="utf-8")
    run = recorded(script)
    assert run.ending.how == "recorded"
    assert run.ending.steps == 1
    assert [one.type for one in run.facts(OptimizerSeen)] == ["torch.optim.SGD"]
    assert [one.optimizers for one in run.facts(ParameterSeen)] == [(run.facts(OptimizerSeen)[0].number,)] * 2
    assert "TL301" not in {one.code for one in findings_of_run(script)}
    script.write_text(program.replace("    optimizer.zero_grad()\n", ""), encoding="utf-8")
    assert "TL301" in {
        one.code for one in findings_of_run(script) if one.verdict in ("confirmed", "observed")
    }
