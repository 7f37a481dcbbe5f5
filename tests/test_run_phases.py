"""Runs of programs that train in several phases."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.run_command import FOUND, PROGRAM_FAILED, SOUND, ending, found, python, report, run, write

TWO_PHASES = """\
import torch
import torch.nn.functional as F
from torch import nn
torch.manual_seed(0)
body = nn.Sequential(nn.Linear(8, 32), nn.ReLU())
def pretrain(steps=30):
    decoder = nn.Linear(32, 8)
    optimizer = torch.optim.Adam([*body.parameters(), *decoder.parameters()], 1e-3)
    for _ in range(steps):
        x = torch.randn(16, 8)
        loss = F.mse_loss(decoder(body(x)), x)
        optimizer.zero_grad(); loss.backward(); optimizer.step()
def finetune(steps=30):
    head = nn.Linear(32, 4)
    optimizer = torch.optim.Adam([*body.parameters(), *head.parameters()], 1e-3)
    for _ in range(steps):
        x = torch.randn(16, 8); y = x[:, :4].argmax(1)
        loss = F.cross_entropy(head(body(x).detach()), y)
        loss.backward(); optimizer.step()
pretrain(); finetune()
"""


@pytest.mark.parametrize("options", [("--phase", "2"), ("--skip-steps", "32")], ids=["phase", "steps"])
def test_a_later_phase(options: tuple[str, str], tmp_path: Path) -> None:
    write(tmp_path, {"train.py": TWO_PHASES})
    assert run(tmp_path, *options, "train.py").returncode == FOUND
    assert ("TL301", 19, "confirmed") in found(tmp_path)
    said = report(tmp_path)["run"]
    assert (said["ending"]["how"], said["ending"]["steps"]) == ("recorded", 1)
    assert {one["name"] for one in said["losses"]} == {"F.cross_entropy", "backward()"}


def test_every_phase_is_recorded(tmp_path: Path) -> None:
    write(tmp_path, {"train.py": TWO_PHASES})
    ran = run(tmp_path, "--save-trace", "step.json", "--report", "step.html", "train.py")
    assert ran.returncode == FOUND
    assert found(tmp_path) == [("TL301", 19, "confirmed")]
    first = report(tmp_path)["run"]
    (second,) = first["later"]
    assert [one["ending"]["how"] for one in (first, second)] == ["recorded", "recorded"]
    assert {one["name"] for one in first["losses"]} == {"F.mse_loss", "backward()"}
    assert {one["name"] for one in second["losses"]} == {"F.cross_entropy", "backward()"}
    assert [one["at"]["line"] for one in second["optimizers"]] == [15]
    page = (tmp_path / "step.html").read_text()
    assert "Phase 2: Losses" in page and "F.cross_entropy" in page
    before = report(tmp_path)
    assert run(tmp_path, "--from-trace", "step.json").returncode == FOUND
    after = report(tmp_path)
    assert (after["findings"], after["run"]) == (before["findings"], before["run"])
    text = python(tmp_path, "-m", "trainlint", "run", "--from-trace", "step.json").stdout
    assert "Phase 2: Adam at train.py:15" in text and "phase = 2" in text


TRAINER = """\
import torch
from torch import nn
class Trainer:
    def __init__(self, model):
        self.model = model
    def build(self, name):
        if name == "sgd":
            return torch.optim.SGD(self.model.parameters(), 0.1)
        return torch.optim.Adam(self.model.parameters())
    def fit(self):
        optimizer = self.build("adam")
        for step in range(4):
            print("step", step)
            optimizer.zero_grad()
            self.model(torch.randn(8, 4)).square().mean().backward()
            optimizer.step()
    def tune(self):
        optimizer = torch.optim.RMSprop(self.model.parameters())
        for step in range(4):
            print("tune", step)
            self.model(torch.randn(8, 4)).square().mean().backward()
            optimizer.step()
trainer = Trainer(nn.Linear(4, 4))
with torch.random.fork_rng():
    trainer.fit()
"""


def test_a_phase_is_only_waited_for_where_the_code_ahead_builds_another_optimizer(tmp_path: Path) -> None:
    write(tmp_path, {"one.py": TRAINER, "two.py": TRAINER + "    trainer.tune()\n"})
    one = run(tmp_path, "one.py")
    assert (one.returncode, one.stdout) == (FOUND, "step 0\nstep 1\n")
    assert report(tmp_path)["run"]["later"] == []
    assert found(tmp_path) == [("TL301", 22, "not-reached")]
    two = run(tmp_path, "two.py")
    assert (two.returncode, two.stdout.split("\n")[3:6]) == (FOUND, ["step 3", "tune 0", "tune 1"])
    assert found(tmp_path) == [("TL301", 22, "confirmed")]


ONE_FUNCTION = """\
import torch
from torch import nn
def fit(model, clears):
    optimizer = torch.optim.Adam(model.parameters())
    for step in range(4):
        if clears:
            optimizer.zero_grad()
        model(torch.randn(8, 4)).square().mean().backward()
        optimizer.step()
model = nn.Linear(4, 4)
fit(model, True)
"""


def test_a_function_that_is_called_again_is_another_phase(tmp_path: Path) -> None:
    in_a_loop = ONE_FUNCTION.replace("fit(model, True)", "for fold in range(2):\n    fit(model, True)")
    write(tmp_path, {"twice.py": ONE_FUNCTION + "fit(model, False)\n", "folds.py": in_a_loop})
    run(tmp_path, "twice.py")
    assert ("TL301", 9, "confirmed") in found(tmp_path)
    assert len(report(tmp_path)["run"]["later"]) == 1
    run(tmp_path, "folds.py")
    assert report(tmp_path)["run"]["later"] == []


def test_a_phase_that_does_not_come_in_time(tmp_path: Path) -> None:
    write(tmp_path, {"train.py": TWO_PHASES})
    assert run(tmp_path, "--phase-seconds", "1e-9", "train.py").returncode == FOUND
    assert found(tmp_path) == [("TL301", 19, "not-reached")]
    assert any(
        "the optimizer that train.py:15 builds did not step" in one
        for one in report(tmp_path)["run"]["not_checked"]
    )


def test_a_program_that_fails_before_its_next_phase(tmp_path: Path) -> None:
    write(tmp_path, {"train.py": TWO_PHASES.replace("def finetune(", "def finetune(a, ")})
    assert run(tmp_path, "train.py").returncode == PROGRAM_FAILED
    assert ending(tmp_path)["how"] == "failed"


def test_a_phase_that_does_not_come(tmp_path: Path) -> None:
    write(tmp_path, {"train.py": SOUND})
    run(tmp_path, "--phase", "2", "train.py")
    assert ending(tmp_path)["how"] == "finished"


STAGES = """\
import contextlib, torch
import torch.nn.functional as F
from torch import nn
torch.manual_seed(0)
class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers, self.context = nn.Sequential(nn.Linear(8, 16), nn.Tanh()), contextlib.nullcontext
    def freeze(self, holds):
        self.layers.requires_grad_(not holds)
        self.context = torch.no_grad if holds {context} else contextlib.nullcontext
    def forward(self, x):
        with self.context():
            return self.layers(x)
encoder, head = Encoder(), nn.Linear(16, 4)
model = nn.Sequential(encoder, head)
def stage(freeze):
    encoder.freeze(freeze)
    optimizer = torch.optim.Adam([one for one in model.parameters() if one.requires_grad], 1e-3)
    for step in range(3):
        x = torch.randn(16, 8)
        loss = F.cross_entropy(model(x), x[:, :4].argmax(1))
        optimizer.zero_grad(); loss.backward(); optimizer.step()
    print("stage is over")
for freeze in {stages}:
    stage(freeze)
"""


@pytest.mark.parametrize(
    ("context", "stages", "codes", "ended"),
    [
        ("or self.context is torch.no_grad", "(True, False)", ["TL210"], 1),
        ("", "(True, False)", [], 1),
        ("", "(False, False)", [], 0),
    ],
)
def test_a_loop_that_trains_a_frozen_part_later_has_another_phase(
    tmp_path: Path, context: str, stages: str, codes: list[str], ended: int
) -> None:
    write(tmp_path, {"train.py": STAGES.format(context=context, stages=stages)})
    ran = run(tmp_path, "train.py")
    assert [code for code, _, _ in found(tmp_path)] == codes
    assert ran.stdout.count("stage is over") == ended
