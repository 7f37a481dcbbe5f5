"""Sound programs that a run must not suspect, each with a twin whose bug the same run shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.in_process import findings_of_run, recorded
from trainlint.facts.seen.parameters import ParameterSeen

MODE_SET_BY_HAND = """\
import torch
from torch import nn
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.Dropout(0.1), nn.Linear(16, 3))
optimizer = torch.optim.SGD(model.parameters(), 0.1)
before = {name: module.training for name, module in model.named_modules()}
model.eval()
with torch.no_grad():
    model(torch.randn(4, 8))
for name, module in model.named_modules():
    module.training = before[name]
for i in range(4):
    x = torch.randn(16, 8); y = x[:, :3].argmax(1)
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad(); loss.backward(); optimizer.step()
"""

EVEN_ATTENTION = """\
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))
        self.wide, self.narrow = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)
        self.norm = nn.LayerNorm(width)

    def forward(self, x):
        scores = self.query(x) @ self.key(x).transpose(1, 2) / x.shape[-1] ** 0.5
        x = self.norm(x + self.out(scores.softmax(-1) @ self.value(x)))
        return x + self.narrow(torch.tanh(self.wide(x)))


torch.manual_seed(0)
block, pooled, head = Block(32), nn.Linear(32, 32), nn.Linear(32, 2)
for one in block.modules():
    if isinstance(one, nn.Linear):
        nn.init.normal_(one.weight, std=0.02)
model = nn.ModuleList([block, pooled, head])
optimizer = torch.optim.Adam(model.parameters(), 1e-3)
for _ in range(3):
    x, y = torch.randn(16, 12, 32), torch.randint(2, (16,))
    loss = nn.functional.cross_entropy(head(torch.tanh(pooled(block(x)[:, 0]))), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""

MODE_KEPT_BY_A_CONTEXT = """\
import contextlib
import torch
from torch import nn
torch.manual_seed(0)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16))
        self.head = nn.Linear(16, 3)
    def forward(self, x):
        return self.head(self.body(x))
@contextlib.contextmanager
def evaluating(model):
    modes = [(one, one.training) for one in model.modules()]
    model.eval()
    yield
    for one, mode in modes:
        one.training = mode
model = Net()
optimizer = torch.optim.SGD(model.parameters(), 0.1)
with evaluating(model), torch.no_grad():
    model(torch.randn(4, 8))
for i in range(4):
    x = torch.randn(16, 8); y = x[:, :3].argmax(1)
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad(); loss.backward(); optimizer.step()
"""

CLIPPED_AFTER_SOME_BATCHES = """\
import torch
from torch import nn
torch.manual_seed(0)
model = nn.Linear(8, 3)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for i in range(120):
    x = torch.randn(16, 8); y = x[:, :3].argmax(1)
    loss = nn.functional.cross_entropy(model(x), y) / 4
    loss.backward()
    if (i + 1) % 4 == 0:
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
"""

CLIPPED_NOW_AND_THEN = """\
import torch
from torch import nn
torch.manual_seed(0)
model = nn.Linear(8, 3)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for i in range(60):
    x = torch.randn(16, 8); y = x[:, :3].argmax(1)
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    if i % 3 == 0:
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
"""

SHUFFLED_IN_BATCHES = """\
import torch
from torch import nn
from torch.utils.data import BatchSampler, DataLoader, Dataset, RandomSampler
torch.manual_seed(0)
class Rows(Dataset):
    def __init__(self):
        self.rows = open(__file__).read().split()
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, i):
        return torch.tensor([float(ord(c)) / 100 for c in self.rows[i][:1] * 8]), len(self.rows[i]) % 3
data = Rows()
loader = DataLoader(data, batch_sampler=BatchSampler(RandomSampler(data), 8, False))
model = nn.Linear(8, 3)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for x, y in loader:
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad(); loss.backward(); optimizer.step()
"""

SHUFFLED_BY_ITS_OWN_BATCHES = SHUFFLED_IN_BATCHES.replace(
    "data = Rows()\n",
    """\
data = Rows()
class Buckets(torch.utils.data.Sampler):
    def __iter__(self):
        yield from (part.tolist() for part in torch.randperm(len(data)).split(8))
""",
).replace("BatchSampler(RandomSampler(data), 8, False)", "Buckets()")


@pytest.mark.parametrize(
    ("program", "code", "steps"),
    [
        pytest.param(MODE_SET_BY_HAND, "TL310", (1, 3), id="modes restored as attributes"),
        pytest.param(MODE_KEPT_BY_A_CONTEXT, "TL310", (1, 2), id="modes restored by a context manager"),
        pytest.param(CLIPPED_AFTER_SOME_BATCHES, "TL313", (1, 2, 3, 20), id="accumulated, clipped, stepped"),
        pytest.param(CLIPPED_NOW_AND_THEN, "TL313", (1, 20, 50), id="clipped in some iterations"),
        pytest.param(SHUFFLED_IN_BATCHES, "TL502", (1,), id="a batch sampler that shuffles"),
        pytest.param(SHUFFLED_BY_ITS_OWN_BATCHES, "TL502", (1,), id="a batch sampler of its own"),
    ],
)
def test_a_sound_program_is_not_suspected(
    program: str, code: str, steps: tuple[int, ...], tmp_path: Path
) -> None:
    for count in steps:
        assert code not in _standing(program, tmp_path, count), count


@pytest.mark.parametrize(
    ("program", "code", "steps"),
    [
        pytest.param(
            MODE_SET_BY_HAND.replace("= before[name]", "= False"), "TL310", 2, id="modes that stay off"
        ),
        pytest.param(
            MODE_KEPT_BY_A_CONTEXT.replace("one.training = mode", "pass"), "TL310", 2, id="never restored"
        ),
        pytest.param(
            CLIPPED_AFTER_SOME_BATCHES.replace(
                "        nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n        optimizer.step()\n",
                "        optimizer.step()\n        nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n",
            ),
            "TL313",
            20,
            id="clipped after the step",
        ),
        pytest.param(
            SHUFFLED_IN_BATCHES.replace("RandomSampler(data)", "SequentialSampler(data)").replace(
                "Dataset, RandomSampler", "Dataset, SequentialSampler"
            ),
            "TL502",
            1,
            id="a batch sampler in stored order",
        ),
    ],
)
def test_its_twin_is_found(program: str, code: str, steps: int, tmp_path: Path) -> None:
    assert code in _standing(program, tmp_path, steps)


def _standing(program: str, folder: Path, steps: int) -> set[str]:
    """The codes of what the run has not refuted."""
    script = folder / "train.py"
    script.write_text(program, encoding="utf-8")
    found = findings_of_run(script, steps)
    return {one.code for one in found if one.verdict in ("confirmed", "observed")}


@pytest.mark.parametrize("names", [("query", "key"), ("q_proj", "k_proj"), ("to_q", "to_k")])
def test_even_attention_hands_its_queries_tiny_gradients(names: tuple[str, str], tmp_path: Path) -> None:
    text = EVEN_ATTENTION.replace("self.query", f"self.{names[0]}").replace("self.key", f"self.{names[1]}")
    text = text.replace("block.query", f"block.{names[0]}").replace("block.key", f"block.{names[1]}")
    assert "TL213" not in _standing(text, tmp_path, 1)


def test_layers_before_attention_that_swallow_gradients(tmp_path: Path) -> None:
    deep = "torch.nn.Sequential(*[one for _ in range(10) for one in (nn.Linear(32, 32), nn.Sigmoid())])"
    text = EVEN_ATTENTION.replace(
        "block, pooled, head = Block(32)", f"deep, block, pooled, head = {deep}, Block(32)"
    )
    text = text.replace("ModuleList([block", "ModuleList([deep, block").replace("block(x)", "block(deep(x))")
    assert "TL213" in _standing(text, tmp_path, 1)


TURNS = """\
import torch
from torch import nn
from torch.nn import functional as F
torch.manual_seed(0)
maker, judge = nn.Linear(8, 4), nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
one, other = torch.optim.Adam(maker.parameters(), 1e-3), torch.optim.Adam(judge.parameters(), 1e-3)
for _ in range(4):
    real, noise, ones = torch.randn(16, 4), torch.randn(16, 8), torch.ones(16, 1)
    judge.requires_grad_(False)
    loss = F.binary_cross_entropy_with_logits(judge(maker(noise)), ones)
    one.zero_grad()
    loss.backward()
    one.step(lambda: None)
    judge.requires_grad_(True)
    maker.requires_grad_(False)
    loss = F.binary_cross_entropy_with_logits(judge(real), ones)
    loss = loss + F.binary_cross_entropy_with_logits(judge(maker(noise).detach()), 1 - ones)
    other.zero_grad()
    loss.backward()
    other.step(lambda: None)
    maker.requires_grad_(True)
"""


def test_networks_that_are_frozen_in_turns_under_closures_that_compute_nothing(tmp_path: Path) -> None:
    """As a framework steps in manual optimization: the step is over before the other network has its turn."""
    script = tmp_path / "train.py"
    script.write_text(TURNS)
    run = recorded(script)
    assert {one.name: one.trainable for one in run.facts(ParameterSeen)} == dict.fromkeys(
        ("weight", "bias", "0.weight", "0.bias", "2.weight", "2.bias"), True
    )
    assert "TL301" not in {one.code for one in findings_of_run(script)}
    script.write_text(TURNS.replace("    one.zero_grad()\n", ""))
    assert "TL301" in {one.code for one in findings_of_run(script)}
