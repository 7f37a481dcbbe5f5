"""Bugs that only a run can show, each found where it is, and a sound twin in which the same rule is silent."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from tests.in_process import findings_of_run, recorded
from trainlint.facts.seen.optimizers import OptimizerSeen
from trainlint.facts.seen.parameters import ParameterSeen
from trainlint.finding import Finding

WEIGHTED = """\
import torch
from torch import nn
class Weights(nn.Module):
    def __init__(self):
        super().__init__()
        self.logs = nn.Parameter(torch.zeros(2))
    def forward(self, losses):
        return sum(loss * torch.exp(-log) + log for loss, log in zip(losses, self.logs))
torch.manual_seed(0)
model, weights = nn.Linear(8, 2), Weights()
optimizer = torch.optim.Adam(model.parameters(), 1e-3)
for i in range(4):
    x = torch.randn(16, 8)
    out = model(x)
    loss = weights([(out[:, k] - x[:, k]).square().mean() for k in range(2)])
    optimizer.zero_grad(); loss.backward(); optimizer.step()
"""

PIXELS = """\
import torch
from torch import nn
torch.manual_seed(0)
model = nn.Conv2d(3, 5, 3, padding=1)
optimizer = torch.optim.Adam(model.parameters(), 1e-3)
rows = getattr(torch.Tensor, "view")
for i in range(4):
    x, y = torch.randn(4, 3, 6, 6), torch.randint(5, (4, 6, 6))
    loss = nn.functional.cross_entropy(rows(model(x), -1, 5), rows(y, -1))
    optimizer.zero_grad(); loss.backward(); optimizer.step()
"""

CLIPPED_TO_NOTHING = """\
import torch
from torch import nn
torch.manual_seed(0)
class Wind(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.fc = nn.LSTM(1, 16, batch_first=True), nn.Linear(16, 8)
    def forward(self, x):
        return self.fc(self.lstm(x)[0][:, -1])
model = Wind()
optimizer = torch.optim.SGD(model.parameters(), 0.05)
for i in range(4):
    loss = (model(torch.randn(16, 9, 1)) - torch.randn(16, 8)).square().mean()
    optimizer.zero_grad(); loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1e-7); optimizer.step()
"""

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

BY_HAND = """\
import torch
from torch import nn
torch.manual_seed(0)
model = nn.Linear(8, 4)
for _ in range(8):
    x = torch.randn(16, 8)
    loss = nn.functional.cross_entropy(model(x), x[:, :4].argmax(1))
    loss.backward()
    with torch.no_grad():
        for p in model.parameters():
            p -= 0.1 * p.grad
"""
BY_DATA = BY_HAND.replace("p -= 0.1 * p.grad", "p.data.add_(p.grad, alpha=-0.1)")

ALWAYS_DROPS = """\
import torch
from torch import nn
torch.manual_seed(0)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(8, 8), nn.Linear(8, 4)
    def forward(self, x):
        x = self.a(x)
        return self.b(nn.functional.dropout(x, 0.3))
model = Net()
optimizer = torch.optim.Adam(model.parameters())
for _ in range(4):
    x = torch.randn(16, 8)
    loss = nn.functional.cross_entropy(model(x), x[:, :4].argmax(1))
    optimizer.zero_grad(); loss.backward(); optimizer.step()
"""
ALWAYS_DROPS_IN_ATTENTION = ALWAYS_DROPS.replace(
    "nn.functional.dropout(x, 0.3)",
    "nn.functional.scaled_dot_product_attention(x[:, None], x[:, None], x[:, None], dropout_p=0.3)[:, 0]",
)

NAN_OUTSIDE = """\
import torch
from torch import nn
torch.manual_seed(0)
model = nn.Linear(8, 4)
optimizer = torch.optim.Adam(model.parameters())
for _ in range(4):
    x = torch.randn(16, 8).round()
    y = x[:, :4].argmax(1)
    x = x[:, :1] * x / x[:, :1]
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad(); loss.backward(); optimizer.step()
"""
NAN_IN_FUNCTION = """\
import torch
from torch import nn
torch.manual_seed(0)
def scaled(x):
    return x.log().clamp(min=0)
model = nn.Linear(8, 4)
optimizer = torch.optim.Adam(model.parameters())
for _ in range(4):
    x = torch.randn(16, 8)
    loss = nn.functional.cross_entropy(model(scaled(x)), x[:, :4].argmax(1))
    optimizer.zero_grad(); loss.backward(); optimizer.step()
"""

NAN_BESIDE_A_MASK = """\
import torch
from torch import nn
torch.manual_seed(0)
model = nn.Linear(8, 8)
optimizer = torch.optim.Adam(model.parameters())
causal = torch.full((8, 8), float("-inf")).triu(1)
for _ in range(4):
    x = torch.randn(8, 8)
    scores = model(x) @ x.T + causal
    weights = scores.softmax(-1) / (x - x).sum()
    loss = (weights @ x - x).square().mean()
    optimizer.zero_grad(); loss.backward(); optimizer.step()
"""

MODE_BY_ATTRIBUTE = """\
import torch
from torch import nn
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 32), nn.BatchNorm1d(32), nn.Dropout(0.2), nn.Linear(32, 4))
optimizer = torch.optim.Adam(model.parameters())
def set_mode(flag):
    for one in model.modules():
        one.training = flag
for _ in range(4):
    x = torch.randn(16, 8)
    loss = nn.functional.cross_entropy(model(x), x[:, :4].argmax(1))
    optimizer.zero_grad(); loss.backward(); optimizer.step()
    set_mode(False)
    with torch.no_grad():
        model(x)
"""

CLASS_BY_CLASS = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
y = torch.arange(256) // 64
x = torch.randn(256, 8) + nn.functional.one_hot(y, 8)
settings = dict([("batch_size", 16), ("shuffle", False)])
loader = DataLoader(TensorDataset(x, y), **settings)
model = nn.Linear(8, 4)
optimizer = torch.optim.Adam(model.parameters())
for epoch in range(3):
    for inputs, labels in loader:
        loss = nn.functional.cross_entropy(model(inputs), labels)
        optimizer.zero_grad(); loss.backward(); optimizer.step()
"""

IN_A_THREAD = f"""\
import threading
def work():
{textwrap.indent(BY_HAND, "    ")}
thread = threading.Thread(target=work)
thread.start(); thread.join()
"""


@pytest.mark.parametrize(
    ("program", "code", "subjects"),
    [
        pytest.param(LOOSE, "TL210", {"log_vars[0]", "log_vars[1]"}, id="tensors in a list"),
        pytest.param(WEIGHTED, "TL309", {"logs"}, id="a loss with weights that nobody steps"),
        pytest.param(PIXELS, "TL612", {None}, id="scores of pixels in rows"),
        pytest.param(
            USED_AS_FUNCTION, "TL210", {"extra.weight", "extra.bias"}, id="layers used as functions"
        ),
        pytest.param(SIGN_OF_WEIGHT, "TL211", {"0"}, id="sign of a weight, live bias"),
        pytest.param(ROUNDED_WEIGHT, "TL211", {"0"}, id="rounded weight, live bias"),
        pytest.param(FROZEN, "TL309", {"bn"}, id="an optimizer of frozen parameters"),
        pytest.param(QUERY_MASK, "TL606", {None}, id="a padding mask on the queries"),
        pytest.param(BY_HAND, "TL301", {None}, id="updates by hand without clearing"),
        pytest.param(BY_DATA, "TL301", {None}, id="updates of data without clearing"),
        pytest.param(ALWAYS_DROPS, "TL904", {None}, id="dropout in evaluation"),
        pytest.param(ALWAYS_DROPS_IN_ATTENTION, "TL904", {None}, id="attention that drops in evaluation"),
        pytest.param(NAN_OUTSIDE, "TL212", {None}, id="NaN from an operation outside the model"),
        pytest.param(NAN_IN_FUNCTION, "TL212", {None}, id="NaN from a function outside the model"),
        pytest.param(CLASS_BY_CLASS, "TL502", {None}, id="one class after the other"),
        pytest.param(MODE_BY_ATTRIBUTE, "TL310", {None}, id="a mode that is set by attribute"),
        pytest.param(IN_A_THREAD, "TL301", {None}, id="in a thread"),
        pytest.param(CLIPPED_TO_NOTHING, "TL316", {"fc.weight"}, id="gradients clipped to almost nothing"),
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
            WEIGHTED.replace("torch.zeros(2))", "torch.zeros(2), requires_grad=False)"),
            "TL309",
            id="a loss with weights that are not trained",
        ),
        pytest.param(
            PIXELS.replace("model(x)", "model(x).permute(0, 2, 3, 1).contiguous()"),
            "TL612",
            id="scores of pixels in rows, classes last",
        ),
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
        pytest.param(BY_HAND + "    model.zero_grad()\n", "TL301", id="updates by hand that clear"),
        pytest.param(
            BY_DATA + "            p.grad.mul_(0.9)\n", "TL301", id="momentum by hand, in the gradients"
        ),
        pytest.param(
            NAN_OUTSIDE.replace("/ x[:, :1]", "/ x[:, :1].clamp(min=1)"), "TL212", id="no division by 0"
        ),
        pytest.param(
            ALWAYS_DROPS.replace(
                "return self.b(nn.functional.dropout(x, 0.3))",
                "if self.training:\n            x = nn.functional.dropout(x, 0.3)\n        return self.b(x)",
            ),
            "TL904",
            id="dropout in training alone",
        ),
        pytest.param(
            ALWAYS_DROPS_IN_ATTENTION.replace("dropout_p=0.3", "dropout_p=0.3 * self.training"),
            "TL904",
            id="attention that drops in training alone",
        ),
        pytest.param(
            CLASS_BY_CLASS.replace("arange(256) // 64", "randint(4, (256,))"),
            "TL502",
            id="classes as they come",
        ),
        pytest.param(
            MODE_BY_ATTRIBUTE + "    set_mode(True)\n", "TL310", id="a mode that is set back by attribute"
        ),
        pytest.param(
            IN_A_THREAD.replace("        loss.backward()", "        model.zero_grad(); loss.backward()"),
            "TL301",
            id="in a thread that clears",
        ),
        pytest.param(CLIPPED_TO_NOTHING.replace("1e-7", "1.0"), "TL316", id="gradients that are clipped"),
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


def test_the_place_where_nan_began_outside_the_model(tmp_path: Path) -> None:
    assert [one.at.line for one in _of(NAN_OUTSIDE, tmp_path, "TL212")] == [9]
    assert [one.at.line for one in _of(NAN_IN_FUNCTION, tmp_path, "TL212")] == [5]
    assert [one.at.line for one in _of(NAN_BESIDE_A_MASK, tmp_path, "TL212")] == [10]
