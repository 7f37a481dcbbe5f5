"""Recording changes nothing: weights, optimizer state, random numbers and output are bit-identical without it."""

from __future__ import annotations

import gc
import json
import os
import sys
import weakref
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.in_process import recorded
from tests.warm import ROOT, Ran, python
from trainlint.facts.seen.blind_spots import Missed

FOLDER = ROOT / "fixtures/transparent"
PROGRAMS = sorted(file.name for file in FOLDER.glob("*.py") if file.name != "state.py")

State = list[dict[str, Any]]


COLD = frozenset(("warns.py",))
"""Programs that count what stands above them on the stack."""


def run(command: list[str], *, cold: bool = False) -> Ran:
    return python(command, FOLDER, cold=cold or not COLD.isdisjoint(command))


def trace(report: Path, *arguments: str) -> list[str]:
    options = ["--no-cache", "--output-format", "json", "--output-file", str(report)]
    return ["-m", "trainlint", "run", "--trace", *options, *arguments]


def states(file: Path) -> State:
    return [json.loads(line) for line in file.read_text().splitlines()]


@pytest.mark.parametrize("program", PROGRAMS)
def test_programs_that_end_by_themselves(program: str, tmp_path: Path) -> None:
    plain = run([program, str(tmp_path / "plain")])
    watched = run(trace(tmp_path / "report", "--steps", "50", program, str(tmp_path / "watched")))
    assert plain.returncode == 0, plain.stderr
    assert watched.stdout == plain.stdout
    assert watched.stderr == plain.stderr
    assert states(tmp_path / "watched") == states(tmp_path / "plain")
    report = json.loads((tmp_path / "report").read_text())
    assert report["run"]["ending"]["how"] == "finished"
    assert report["run"]["ending"]["steps"] >= 2
    assert not report["errors"]
    assert not [one for one in report["run"]["not_checked"] if "bug" in one]


def test_a_program_that_is_stopped(tmp_path: Path) -> None:
    plain = run(["mlp.py", str(tmp_path / "plain")], cold=True)
    watched = run(trace(tmp_path / "report", "mlp.py", str(tmp_path / "watched")), cold=True)
    assert watched.returncode == 1, watched.stderr  # its schedule steps too early, and torch says so as well
    assert watched.stderr == plain.stderr
    assert watched.stdout.splitlines() == [plain.stdout.splitlines()[0], "the end"]
    assert states(tmp_path / "watched") == states(tmp_path / "plain")[:1]
    assert json.loads((tmp_path / "report").read_text())["run"]["ending"]["how"] == "recorded"


def test_nothing_is_left_of_a_session() -> None:
    import torch

    from trainlint.trace.launch.session import Session

    def trained() -> list[weakref.ref[Any]]:
        model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(2):
            optimizer.zero_grad()
            loss = torch.nn.functional.mse_loss(model(torch.ones(1, 2)), torch.ones(1, 2))
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
        return [weakref.ref(model), weakref.ref(optimizer), *map(weakref.ref, model.parameters())]

    trained()  # torch itself imports and wraps something at the first step
    before = _what_could_be_touched()
    session = Session(steps=5)
    assert _what_could_be_touched() != before
    held = trained()
    session.close()
    after = _what_could_be_touched()
    assert {name: after.get(name) for name in before if after.get(name) != before[name]} == {}
    gc.collect()
    assert [one() for one in held] == [None] * len(held)
    recorder = weakref.ref(session.recorder)
    del session
    gc.collect()
    assert recorder() is None


def test_nothing_is_left_where_a_patch_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    from trainlint.trace.launch.session import Session
    from trainlint.trace.watch.patches import installed

    def cannot_be_made(*_: object) -> None:
        raise ValueError("of our own")

    def cannot_be_taken_back(_: object, undo: ExitStack) -> None:
        undo.callback(cannot_be_made)

    topics = installed._TOPICS
    before = _what_could_be_touched()
    monkeypatch.setattr(installed, "_TOPICS", (*topics, cannot_be_made))
    with pytest.raises(ValueError, match="of our own"):
        Session()
    assert _what_could_be_touched() == before
    monkeypatch.setattr(installed, "_TOPICS", (*topics[:4], cannot_be_taken_back, *topics[4:]))
    session = Session()
    assert _what_could_be_touched() != before
    with pytest.raises(ValueError, match="of our own"):
        session.close()
    assert _what_could_be_touched() == before


def test_arguments_by_name(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import torch\n"
        "model = torch.nn.Linear(2, 2)\n"
        "optimizer = torch.optim.SGD(params=model.parameters(), lr=0.1)\n"
        "x = torch.ones(1, 2)\n"
        "torch.autograd.grad(outputs=model(x).sum(), inputs=model.weight)\n"
        "model(input=x).sum().backward(retain_graph=False)\n"
        "torch.nn.utils.clip_grad_norm_(parameters=model.parameters(), max_norm=1.0)\n"
        "optimizer.step(closure=None)\n"
        "optimizer.zero_grad(set_to_none=True)\n"
        "model.train(mode=False).load_state_dict(state_dict=model.state_dict(prefix=''))\n"
        f"torch.save(obj=model.state_dict(), f={str(tmp_path / 'model.pt')!r})\n"
    )
    run = recorded(program)
    assert (run.ending.how, run.ending.error) == ("finished", "")
    assert not run.facts(Missed)


def _what_could_be_touched() -> dict[str, object]:
    import builtins
    import warnings

    import torch
    from torch.optim import optimizer
    from torch.utils.data import dataloader

    found: dict[str, object] = {
        "modes": torch._C._len_torch_function_stack(),
        "dispatch modes": torch._C._len_torch_dispatch_stack(),
        "step hooks": [
            list(hooks)
            for hooks in (optimizer._global_optimizer_pre_hooks, optimizer._global_optimizer_post_hooks)
        ],
        "module hooks": [
            list(held)
            for name, held in vars(torch.nn.modules.module).items()
            if name.startswith("_global_")
            if isinstance(held, dict)
        ],
        "filters": list(warnings.filters),
        "finders": list(sys.meta_path),
        "gradients": torch.is_grad_enabled(),
    }
    owners: list[Any] = [
        torch.nn.Module,
        torch.optim.Optimizer,
        torch.optim.SGD,
        torch.utils.data.DataLoader,
        dataloader._BaseDataLoaderIter,
        torch.amp.grad_scaler.GradScaler,
        torch.autocast,
        torch.Tensor,
        torch.autograd.Function,
        torch.autograd,
        torch.nn.functional,
        torch.nn.utils,
        torch.nn.utils.clip_grad,
        torch,
        warnings,
        builtins,
        sys,
        os,
    ]
    for owner in owners:
        for name, value in list(vars(owner).items()):
            if callable(value) and not isinstance(value, type):
                found[f"{owner.__name__}.{name}"] = id(value)
    return found


def test_a_recorder_that_fails_is_not_noticed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from trainlint.trace.watch.operations import Operations
    from trainlint.trace.watch.steps import Steps

    def fails(*_: object, **__: object) -> None:
        raise ValueError("of our own")

    monkeypatch.setattr(Operations, "returned", fails)
    monkeypatch.setattr(Steps, "after_step", fails)
    program = tmp_path / "program.py"
    program.write_text(
        "import torch\n"
        "model = torch.nn.Linear(2, 2)\n"
        "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        "model(torch.ones(1, 2)).sum().backward()\n"
        "optimizer.step()\n"
    )
    run = recorded(program)
    assert run.ending.how == "finished"
    assert [one.text.partition(" (")[0] for one in run.facts(Missed)] == ["ValueError: of our own"]
