"""Long trainings of which some steps are recorded: late bugs are found, and nothing stays in torch in between."""

from __future__ import annotations

import linecache
import logging
import threading
from pathlib import Path
from typing import Any

import pytest

import trainlint
from trainlint.facts.seen.history import Milestone

torch = pytest.importorskip("torch")

PROGRAM = """\
import torch
from torch import nn
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Dropout(0.1), nn.Linear(16, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 10**6)
def batch():
    x = torch.randn(16, 8)
    return x, x[:, :4].argmax(1)
def validate():
    model.eval()
    with torch.no_grad():
        model(batch()[0])
    model.train()
with watch(**options) as watched:
    for step in range(1, 1 + steps):
        x, y = batch()
        optimizer.zero_grad()
        logits = model(x)
        loss = nn.functional.cross_entropy(logits, y)
        loss.backward()
        optimizer.step()
        scheduler.step()
        if step % 500 == 0:
            validate()
        each_step(step)
"""

LATE = {
    "NaN": ("logits = model(x)", "logits = model(x) / (1 if step < 2500 else 0 * x[:, :4])", "TL212"),
    "dead units": (
        "optimizer.step()",
        "optimizer.step()\n        if step == 2500: nn.init.constant_(model[0].bias, -100.0)",
        "TL906",
    ),
    "mode after validation": ("    model.train()\n", "", "TL310"),
    "scheduler at its end": ("StepLR(optimizer, 10**6)", "StepLR(optimizer, 2500, gamma=0.0)", "TL315"),
    "loss at chance": ("logits = model(x)", "logits = model(x) * 1e-3", "TL113"),
}


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run a program with `watch`, and hand back its names."""
    monkeypatch.chdir(tmp_path)

    def run(text: str, *, steps: int, each_step: Any = lambda _: None, **options: Any) -> dict[str, Any]:
        script = tmp_path / "train.py"
        script.write_text(text)
        linecache.checkcache()
        scope = {
            "__name__": "__main__",
            "watch": trainlint.watch,
            "options": options,
            "steps": steps,
            "each_step": each_step,
        }
        thread = threading.Thread(target=exec, args=(compile(text, str(script), "exec"), scope))
        thread.start()  # no frame of a test stands above the program there
        thread.join()
        return scope

    return run


@pytest.mark.parametrize("name", LATE)
def test_a_bug_that_begins_late(
    name: str, run: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    old, new, code = LATE[name]
    with caplog.at_level(logging.INFO, "trainlint"):
        scope = run(PROGRAM.replace(old, new), steps=3100, every=1500)
    watched = scope["watched"]
    assert watched.step == 3100
    assert code in [one.code for one in watched.findings]
    said = next(one.getMessage() for one in caplog.records if code in one.getMessage())
    begins = 3000 if "2500" in new else 1500
    assert said.startswith(f"step {begins}: ")
    steps = [one.step for one in watched.last.run.facts(Milestone)]
    assert steps == [2, 1500, 3000]
    pages = {one.name for one in (tmp_path / "trainlint-reports").iterdir()}
    late = f"step-{begins}"
    assert {"latest.html", "step-2.html", "step-2.json", f"{late}.html", f"{late}.json"} <= pages


def test_a_sound_training_is_not_suspected(run: Any) -> None:
    scope = run(PROGRAM, steps=3100, every=1500)
    assert scope["watched"].findings == []


def test_nothing_is_replaced_between_recorded_steps(run: Any) -> None:
    def state() -> list[Any]:
        module, optimizer = torch.nn.Module, torch.optim.Optimizer
        return [
            module.__call__,
            module.__init__,
            optimizer.__init__,
            optimizer.zero_grad,
            torch.autograd.backward,
            torch.save,
            torch._C._len_torch_function_stack(),
        ]

    before, seen = state(), {}

    def look(step: int) -> None:
        seen[step] = state() == before

    run(PROGRAM, steps=12, every=6, first=2, folder=None, each_step=look)
    assert seen == {step: step in (3, 4, 7, 8, 9, 10) for step in range(1, 13)}
    assert state() == before


def test_a_training_is_the_same_when_it_is_watched(run: Any) -> None:
    weights = []
    for options in ({"every": 3, "first": 2, "folder": None}, {"every": 0, "first": 0, "folder": None}):
        scope = run(PROGRAM, steps=30, **options)
        weights.append([one.detach().clone() for one in scope["model"].parameters()])
    assert all(map(torch.equal, *weights))


def test_a_block_that_is_open_when_a_recording_begins_is_left_in_its_order(run: Any) -> None:
    text = PROGRAM.replace(
        "        x, y = batch()\n", "        with torch.device('meta'): pass\n        x, y = batch()\n"
    )
    text = text.replace(
        "        loss.backward()\n        optimizer.step()\n",
        "        loss.backward()\n        with torch.device('cpu'):\n            optimizer.step()\n",
    )
    run(text, steps=12, every=4, folder=None)
    assert torch._C._len_torch_function_stack() == 0
    assert torch.ones(1).device.type == "cpu"


def test_a_training_that_fails_in_a_recorded_step(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    raised: list[Any] = []
    monkeypatch.setattr(threading, "excepthook", raised.append)
    text = PROGRAM.replace("loss.backward()", "(loss if step < 10 else loss.detach()).backward()")
    scope = run(text, steps=20, every=10)
    assert [one.exc_type for one in raised] == [RuntimeError]
    assert scope["watched"].last.run.ending.how == "failed"
    assert (tmp_path / "trainlint-reports" / "latest.html").exists()
    assert torch._C._len_torch_function_stack() == 0


def test_a_recorder_that_fails_does_not_stop_a_training(
    run: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: Any) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr("trainlint.integrations.watching.dumped", fail)
    assert run(PROGRAM, steps=20, every=10)["watched"].step == 20
    assert "no space left on device" in caplog.text


def test_two_optimizers_count_one_step_each(run: Any, tmp_path: Path) -> None:
    text = PROGRAM.replace(
        "with watch", "other = torch.optim.SGD(model[0].parameters(), lr=1e-3)\nwith watch"
    )
    text = text.replace("        scheduler.step()\n", "        scheduler.step()\n        other.step()\n")
    scope = run(text, steps=20, every=10, first=1)
    assert scope["watched"].step == 20
    assert [one.step for one in scope["watched"].last.run.facts(Milestone)] == [1, 10, 20]


def test_a_run_that_resumes(run: Any) -> None:
    scope = run(PROGRAM, steps=20, every=10, first=1, step=1005)
    assert scope["watched"].step == 1025
    assert [one.step for one in scope["watched"].last.run.facts(Milestone)] == [1006, 1010, 1020]


def test_what_cannot_be_counted() -> None:
    with pytest.raises(ValueError, match="none of them is negative"):
        trainlint.watch(every=-1)
    with pytest.raises(AttributeError, match="no attribute 'wach'"):
        trainlint.wach  # noqa: B018
