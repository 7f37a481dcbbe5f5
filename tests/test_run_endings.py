"""How a run ends: programs that go on, save, take too long, or are killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.run_command import (
    CLEAN,
    FAILED,
    INTERRUPTED,
    PROGRAM_FAILED,
    SOUND,
    TRAINS,
    _command,
    ending,
    found,
    report,
    run,
    write,
)
from tests.warm import ROOT

STUBBORN = """\
import pathlib
import torch
log = pathlib.Path("log")
model = torch.nn.Linear(2, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
def train():
    try:
        try:
            while True:
                optimizer.zero_grad()
                model(torch.ones(1, 2)).sum().backward()
                optimizer.step()
        except Exception:
            print("an exception")
        except SystemExit:
            print("an exit")
    finally:
        torch.save(model.state_dict(), "saved.pt")
        log.write_text(log.read_text() + "x" if log.exists() else "x")
if STUBBORN:
    while True:
        try:
            train()
        except:
            pass
train()
"""


@pytest.mark.parametrize("stubborn", [False, True])
def test_programs_that_catch_what_they_can_end(stubborn: bool, tmp_path: Path) -> None:
    write(tmp_path, {"train.py": f"STUBBORN = {stubborn}\n{STUBBORN}"})
    ran = run(tmp_path, "train.py")
    assert (ran.returncode, ran.stdout, ran.stderr) == (CLEAN, "", "")
    assert ending(tmp_path)["how"] == "recorded"
    assert not (tmp_path / "saved.pt").exists()
    assert not (tmp_path / "log").exists()
    if not stubborn:  # that one has to be ended at once
        written = [one["path"] for one in report(tmp_path)["run"]["not_written"]]
        assert [Path(one).name for one in written] == ["saved.pt", "log"]


SAVES_AT_THE_END = """\
import atexit, json, os, shutil
import torch
from torch import nn
torch.save({"good": 1}, "best.pt")
with open("metrics.json", "w") as file:
    json.dump({"good": 1}, file)
atexit.register(lambda: torch.save(1, "last.pt"))
model = nn.Linear(4, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
try:
    for step in range(3):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(torch.randn(8, 4)), torch.randint(3, (8,))).backward()
        optimizer.step()
finally:
    open("log", "a").write("x")
    torch.save({"two steps": 1}, "next.pt.part")
    os.replace("next.pt.part", "best.pt")
    shutil.copy("metrics.json", "kept.json")
    with open("best.pt", "wb") as file:
        torch.save(0, file)
    with open("metrics.json", "w") as file:
        json.dump({"two steps": 1}, file)
"""


def test_a_program_that_is_ended_writes_over_nothing(tmp_path: Path) -> None:
    write(tmp_path, {"train.py": SAVES_AT_THE_END})
    ran = run(tmp_path, "train.py")
    assert (ran.returncode, ran.stderr) == (CLEAN, "")
    assert json.loads((tmp_path / "metrics.json").read_text()) == {"good": 1}
    assert b"good" in (tmp_path / "best.pt").read_bytes()
    assert (tmp_path / "log").read_text() == "x"
    kept = {"train.py", "best.pt", "metrics.json", "log", "report.json"}
    assert {file.name for file in tmp_path.iterdir()} == kept
    written = {one["path"] for one in report(tmp_path)["run"]["not_written"]}
    assert written == {"next.pt.part", "best.pt", "kept.json", "metrics.json", "last.pt"}


def test_a_program_that_ends_by_itself_writes_what_it_wants(tmp_path: Path) -> None:
    write(tmp_path, {"train.py": SAVES_AT_THE_END})
    assert run(tmp_path, "--steps", "9", "train.py").returncode == CLEAN
    assert json.loads((tmp_path / "metrics.json").read_text()) == {"two steps": 1}
    assert (tmp_path / "last.pt").exists()
    assert report(tmp_path)["run"]["not_written"] == []


ENDINGS: dict[str, tuple[list[str], str, int, str, str]] = {
    "no training": (
        [],
        "import torch\nprint(torch.nn.Linear(2, 2)(torch.ones(2)).shape)",
        FAILED,
        "finished",
        "",
    ),
    "trains in another process": (
        [],
        "import subprocess, sys, torch\nsubprocess.run([sys.executable, '-c', 'print(1)'])",
        FAILED,
        "finished",
        "",
    ),
    "never steps": (
        ["--max-steps-wait", "3"],
        "import torch\nw = torch.ones(2, requires_grad=True)\nwhile True:\n    w.sum().backward()\n    w.grad = None",
        FAILED,
        "waited",
        "",
    ),
    "leaves at once": (
        [],
        "import os, sys\n" + SOUND + "sys.stdout.flush()\nos._exit(0)",
        CLEAN,
        "exited",
        "",
    ),
    "leaves at once badly": (
        [],
        "import os, sys\n" + SOUND + "sys.stdout.flush()\nos._exit(7)",
        PROGRAM_FAILED,
        "exited",
        "",
    ),
    "says what is wrong": ([], SOUND + "raise SystemExit('no')", PROGRAM_FAILED, "failed", "no"),
}


@pytest.mark.parametrize("name", ENDINGS)
def test_endings(name: str, tmp_path: Path) -> None:
    options, text, code, how, said = ENDINGS[name]
    write(tmp_path, {"train.py": text})
    ran = run(tmp_path, "--steps", "50", *options, "train.py")
    assert ran.returncode == code, ran.stderr
    assert ending(tmp_path)["how"] == how
    assert said in ran.stderr
    assert ending(tmp_path)["children"] == (1 if "process" in name else 0)
    if SOUND in text:
        assert ending(tmp_path)["steps"] == 3
        assert ran.stdout == "step 0\nstep 1\nstep 2\n"


def test_a_program_that_takes_too_long(tmp_path: Path) -> None:
    write(tmp_path, {"train.py": "import time\nprint('begins', flush=True)\ntime.sleep(100)\nimport torch"})
    ran = run(tmp_path, "--timeout", "2", "train.py")
    assert ran.returncode == FAILED
    assert ran.stderr.splitlines()[-1] == (
        "error: the program was ended by --timeout after 2 s, before anything was recorded"
    )


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_program_that_is_killed_while_it_trains(tmp_path: Path) -> None:
    killed = SOUND.replace("optimizer.step()", "__import__('os').kill(__import__('os').getpid(), 9)")
    write(tmp_path, {"train.py": killed})
    ran = run(tmp_path, "train.py")
    assert ran.returncode == PROGRAM_FAILED
    assert "killed by SIGKILL" in ran.stderr
    assert "waited for the first optimizer step" in ran.stderr


def _started(folder: Path, *options: str) -> subprocess.Popen[str]:
    """A recording of a program that has trained, and now sleeps; it is told what Ctrl-C is."""
    write(folder, {"train.py": TRAINS + "import time\nprint('ready', flush=True)\ntime.sleep(100)\n"})
    temporary = folder / "temporary"
    temporary.mkdir()
    started = subprocess.Popen(
        [sys.executable, *_command(*options, "train.py")],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(temporary)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert started.stdout is not None
    while started.stdout.readline() != "ready\n":
        pass
    return started


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize("number", ["SIGTERM", "SIGHUP"])
def test_a_signal_ends_the_program_too(tmp_path: Path, number: str) -> None:
    started = _started(tmp_path, "--steps", "50")
    started.send_signal(getattr(signal, number))
    _, stderr = started.communicate(timeout=60)
    assert f"killed by {number}" in stderr
    assert not [*(tmp_path / "temporary").glob("trainlint-*")]


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_ctrl_c_reports_what_was_seen(tmp_path: Path) -> None:
    started = _started(tmp_path, "--steps", "50")
    os.killpg(started.pid, signal.SIGINT)
    _, stderr = started.communicate(timeout=60)
    assert started.returncode == INTERRUPTED
    assert stderr.splitlines()[-1] == "KeyboardInterrupt"
    assert "trainlint" not in stderr
    assert found(tmp_path) == [("TL101", 3, "confirmed")]
    assert ending(tmp_path)["how"] == "interrupted"
