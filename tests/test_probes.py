"""Probes on programs that really run: for each, one that passes and one that fails, and nothing of the user's changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.run_command import CLEAN, FAILED, FOUND, found, python, report, run, write
from trainlint.facts.seen.tried import QUESTIONS

CLASSIFIER = """\
import torch
from torch import nn
torch.manual_seed(0)
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(8, 64)
        self.drop = nn.Dropout(0.1)
        self.last = nn.Linear(64, 4)
    def forward(self, x):
        x = self.drop(torch.relu(self.first(x)))
        return self.last(x)
model = Model()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(4):
    x, y = torch.randn(16, 8), torch.randint(4, (16,))
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
"""
AVERAGED = CLASSIFIER.replace("return self.last(x)", "return self.last(x.mean(0, keepdim=True).expand_as(x))")
BLIND = CLASSIFIER.replace("return self.last(x)", "return self.last(x.clamp(max=0))")
HOT = """\
import torch
from torch import nn
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=3.0)
for step in range(3):
    x = torch.randn(32, 8)
    optimizer.zero_grad()
    loss = ((model(x) - x.sum(1, keepdim=True)) ** 2).mean()
    loss.backward()
    optimizer.step()
"""
LOUD = CLASSIFIER.replace("return self.last(x)", "return self.last(x) * 100")
LANGUAGE_MODEL = """\
import torch
from torch import nn
torch.manual_seed(0)
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(20, 32)
        self.mixer = nn.GRU(32, 16, batch_first=True, bidirectional=False)
        self.head = nn.Linear(16, 20)
        self.scale = torch.ones(1)
    def forward(self, tokens):
        x = self.mixer(self.tokens(tokens))[0]
        return self.head(x) * self.scale
model = Model()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(4):
    tokens = torch.randint(20, (8, 13))
    optimizer.zero_grad()
    logits = model(tokens[:, :-1])
    loss = nn.functional.cross_entropy(logits.reshape(-1, 20), tokens[:, 1:].reshape(-1))
    loss.backward()
    optimizer.step()
    print(loss.item(), torch.rand(1).item())
"""
LOOKS_AHEAD = LANGUAGE_MODEL.replace(
    "16, batch_first=True, bidirectional=False", "8, batch_first=True, bidirectional=True"
)
COUNTS = LANGUAGE_MODEL.replace(
    "        return self.head", "        self.scale = self.scale * 1.01\n        return self.head"
)
BUFFER = COUNTS.replace("self.scale = torch.ones(1)", "self.register_buffer('scale', torch.ones(1))")
GAN = (
    CLASSIFIER.replace("for step", "other = torch.optim.SGD(model.parameters(), lr=1e-3)\nfor step")
    + "    other.step()\n"
)

MANY_WRONGS = (
    CLASSIFIER.replace(
        "class Model",
        """\
import numpy as np
class Exponential(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.exp()
    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.saved_tensors[0]
class Model""",
    )
    .replace("x = self.drop(", "x = Exponential.apply(")
    .replace(
        "return self.last(x)",
        "return (self.last(x) * (1 + self.training) + np.random.default_rng().normal()).squeeze()",
    )
)


CASES = {
    "classifier": (
        CLASSIFIER,
        {
            "overfit": ("passed", "falls from"),
            "depends-on-input": ("passed", "the output changes by"),
            "samples-independent": ("passed", "changes by 0,"),
            "causal": ("not possible", "targets"),
            "resume": ("passed", "differ by up to 0,"),
            "learning-rate": ("passed", "the program has 0.01"),
            "chance": ("passed", "guessing gives 1.39"),
            "repeat": ("passed", "differ by up to 0,"),
            "smaller-batch": ("passed", "takes 1 sample and 8 samples in place of 16"),
            "modes": ("passed", "changes by 0 of"),
            "gradients": ("not possible", "no `autograd.Function`"),
        },
    ),
    "averaged": (
        AVERAGED,
        {
            "overfit": ("failed", "tell the samples of the batch apart"),
            "samples-independent": ("failed", "other samples in the batch"),
        },
    ),
    "blind": (BLIND, {"depends-on-input": ("failed", "the same output")}),
    "loud": (LOUD, {"chance": ("failed", "sure of what is wrong")}),
    "hot": (HOT, {"learning-rate": ("failed", "explodes at"), "chance": ("not possible", "nothing says")}),
    "two optimizers": (GAN, {"overfit": ("not possible", "several optimizers step")}),
    "language model": (
        LANGUAGE_MODEL,
        {"overfit": ("passed", "falls from"), "causal": ("passed", "changes by 0,")},
    ),
    "looks ahead": (LOOKS_AHEAD, {"causal": ("failed", "later inputs change earlier outputs")}),
    "buffer": (BUFFER, {"resume": ("passed", "differ by up to 0,")}),
    "many wrongs": (
        MANY_WRONGS,
        {
            "smaller-batch": ("failed", "shape [4] for 1 sample, in place of [1, 4]"),
            "modes": ("not possible", "draws random numbers in training mode"),
            "gradients": ("failed", "where its backward says"),
        },
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_probes_say(name: str, tmp_path: Path) -> None:
    program, expected = CASES[name]
    write(tmp_path, {"train.py": program})
    run(tmp_path, "--probe", ",".join(expected), "--probe-seconds", "5", "train.py")
    said = {one["name"]: one for one in report(tmp_path)["run"]["tried"]}
    assert {one: said[one]["verdict"] for one in said} == {
        one: verdict for one, (verdict, _) in expected.items()
    }
    assert [one for one, (_, word) in expected.items() if word not in said[one]["said"]] == []


def test_a_failed_probe_is_told_and_drawn_and_counts(tmp_path: Path) -> None:
    write(tmp_path, {"train.py": AVERAGED})
    command = ("-m", "trainlint", "run", "--no-cache", "--probe", "overfit", "--select", "TL1")
    ran = python(tmp_path, *command, "--report", "step.html", "train.py")
    assert ran.returncode == FOUND
    assert "  overfit: failed: the loss of one batch falls from 1." in ran.stdout
    assert "Loss of one batch, step by step" in (tmp_path / "step.html").read_text()
    write(tmp_path, {"train.py": CLASSIFIER})
    assert python(tmp_path, *command, "train.py").returncode == CLEAN


def test_what_a_step_uses_beside_its_state_is_a_finding(tmp_path: Path) -> None:
    write(tmp_path, {"train.py": COUNTS})
    assert run(tmp_path, "--probe", "resume", "--select", "TL917", "train.py").returncode == FOUND
    assert found(tmp_path) == [("TL917", 15, "observed")]


def test_a_program_is_the_same_with_probes(tmp_path: Path) -> None:
    """Up to where the recording ends it says, draws and writes what it does without; saves on disk stay as they are."""
    program = (
        LANGUAGE_MODEL
        + """\
    if step == 0:
        torch.save(model.state_dict(), "saved.pt")
"""
    )
    write(tmp_path, {"train.py": program})
    plain = python(tmp_path, "train.py")
    saved = (tmp_path / "saved.pt").read_bytes()
    (tmp_path / "saved.pt").unlink()
    options = ("--steps", "3", "--probe", "all", "--probe-seconds", "1")
    ran = run(tmp_path, *options, "train.py")
    lines = ran.stdout.splitlines()
    assert len(lines) == 3 and lines == plain.stdout.splitlines()[:3]
    assert (tmp_path / "saved.pt").read_bytes() == saved
    assert {one["name"] for one in report(tmp_path)["run"]["tried"]} == set(QUESTIONS)


def test_a_probe_that_does_not_exist(tmp_path: Path) -> None:
    write(tmp_path, {"train.py": CLASSIFIER})
    ran = run(tmp_path, "--probe", "overfitt", "train.py")
    assert ran.returncode == FAILED
    assert "there is no probe overfitt: choose from all, overfit, " in ran.stderr
