"""`--watch`, in a real process: checks again after changes, and ends with Ctrl-C."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from trainlint.cli.watching import matters

if TYPE_CHECKING:
    from tests.conftest import Project, Trainlint

ROOT = Path(__file__).parent.parent
PATIENCE = 60
GOOD = """\
import torch
from torch import nn

model = nn.Linear(2, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in data:
    optimizer.zero_grad()
    nn.MSELoss()(model(x), y).backward()
    optimizer.step()
"""
BAD = GOOD.replace("    optimizer.zero_grad()\n", "")


class Watching:
    """A process that watches, and what it says, line by line."""

    def __init__(self, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "trainlint", "check", "--watch", *arguments],
            env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line)

    def until(self, text: str) -> str:
        """What is said up to a line with this text."""
        said = ""
        end = time.monotonic() + PATIENCE
        while text not in said:
            try:
                said += self._lines.get(timeout=max(0.0, end - time.monotonic()))
            except queue.Empty:
                pytest.fail(f"{text!r} was not said, but {said!r}")
        return said

    def interrupt(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=PATIENCE)


@pytest.fixture
def watching(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Watching]]:
    monkeypatch.chdir(tmp_path)
    started: list[Watching] = []
    yield started
    for one in started:
        one.process.kill()
        one.process.wait()


def test_it_checks_again_after_every_change_until_interrupted(
    tmp_path: Path, watching: list[Watching]
) -> None:
    train = tmp_path / "train.py"
    train.write_text(BAD)
    watch = Watching("--select", "TL301")
    watching.append(watch)
    assert "train.py:8" in watch.until("Watching for changes; Ctrl-C ends.")
    train.write_text(GOOD)
    assert "train.py changed." in watch.until("Found nothing in 1 file.")
    new = tmp_path / "new.tmp"
    new.write_text(BAD)
    new.replace(train)  # as editors save
    assert "train.py:8" in watch.until("Found 1 error in 1 file.")
    (tmp_path / "broken.py").write_text("import torch\nloss.backward(\n")
    assert "error: broken.py" in watch.until("Found 1 error in 2 files; 1 problem")
    (tmp_path / "broken.py").unlink()
    watch.until("Found 1 error in 1 file.")
    (tmp_path / "trainlint.toml").write_text("selct = []\n")
    watch.until("did you mean `select`?")
    (tmp_path / "trainlint.toml").write_text('per-file-ignores = { "train.py" = ["ALL"] }\n')
    watch.until("Found nothing in 1 file.")
    assert watch.interrupt() == 130


def test_a_file_and_quiet(tmp_path: Path, watching: list[Watching]) -> None:
    train = tmp_path / "train.py"
    train.write_text(BAD)
    watch = Watching("--quiet", "--output-format", "concise", "--select", "TL301", "train.py")
    watching.append(watch)
    watch.until("train.py:8:")
    train.write_text("\n" + BAD)
    assert watch.until("train.py:9:").count("\n") == 1
    assert watch.interrupt() == 130


def test_changes_of_other_files_are_no_changes() -> None:
    folders = ["/home/build/project"]
    for name in ("a.py", "deep/b.ipynb", "pyproject.toml", "sub/.gitignore"):
        assert matters(f"/home/build/project/{name}", folders)
    for name in ("a.txt", "a.pyc", ".trainlint_cache/.gitignore", "node_modules/x.py", "sub/.venv/x.py"):
        assert not matters(f"/home/build/project/{name}", folders)
    assert matters("/home/build/pyproject.toml", folders)
    assert not matters("/home/build/other.py", folders)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing.py"], "missing.py: no such file or folder"),
        (["missing/a.py"], "missing/a.py: no such file or folder"),
        (["-"], "--watch only works with files on disk"),
        (["--write-baseline", "--baseline", "b.json"], "--watch cannot be combined with --write-baseline"),
        (["--config", "none.toml"], "none.toml: cannot be read"),
    ],
)
def test_what_cannot_be_watched(
    project: Project, trainlint: Trainlint, arguments: list[str], message: str
) -> None:
    project({"a.py": ""})
    outcome = trainlint("check", "--watch", *arguments)
    assert outcome.exit_code == 2
    assert message in outcome.stderr


def test_without_the_library(project: Project, trainlint: Trainlint, monkeypatch: pytest.MonkeyPatch) -> None:
    project({"a.py": ""})
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    outcome = trainlint("check", "--watch")
    assert outcome.exit_code == 2
    assert outcome.stderr == "error: --watch needs watchfiles: pip install 'trainlint[watch]'\n"
