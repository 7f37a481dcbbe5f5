"""What is kept between runs changes how fast they are, and nothing else."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.warm import executable
from trainlint.cli.app import app
from trainlint.program.incremental import cache as cache_module
from trainlint.program.incremental.cache import Cache
from trainlint.program.source.storage import Corrupt, unpacked
from trainlint.project.bytes_on_disk import Contents

ROOT = Path(__file__).parent.parent
NET = """\
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)

    def forward(self, x):
        return self.fc(x).softmax(dim=-1)
"""
TRAIN = """\
import torch
from torch import nn
from net import Net

model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in data:
    loss = nn.CrossEntropyLoss()(model(x), y)
    loss.backward()
    optimizer.step()
"""
BOTH = [("TL101", "net.py", 9), ("TL301", "train.py", 10)]


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "tree"
    folder.mkdir()
    (folder / "net.py").write_text(NET)
    (folder / "train.py").write_text(TRAIN)
    (folder / "broken.py").write_text("import torch\ntorch.amp.autocast(\n")
    monkeypatch.chdir(folder)
    return folder


def check(*arguments: str) -> dict[str, Any]:
    """A report without the time that it took."""
    outcome = CliRunner().invoke(app, ["check", "--output-format", "json", *arguments])
    assert outcome.exit_code in (0, 1, 2), outcome.stderr
    assert not isinstance(outcome.exception, Exception) or isinstance(outcome.exception, SystemExit)
    report: dict[str, Any] = json.loads(outcome.stdout)
    del report["summary"]["seconds"]
    return report


def places(report: dict[str, Any]) -> list[tuple[str, str, int]]:
    return [(one["code"], one["path"], one["line"]) for one in report["findings"]]


def entries(tree: Path) -> list[Path]:
    return [
        path
        for path in (tree / ".trainlint_cache").rglob("*")
        if path.is_file() and path.parent.name != ".trainlint_cache"
    ]


def test_a_second_run_says_the_same_and_reads_no_syntax(tree: Path) -> None:
    first = check()
    assert places(first) == BOTH
    assert [one["path"] for one in first["errors"]] == ["broken.py"]
    assert (tree / ".trainlint_cache/.gitignore").read_text() == "*\n"
    assert entries(tree)
    assert check() == first == check("--no-cache")
    watch = "import sys; from trainlint.cli.app import app\ntry: app(['check', '-q'])\nfinally: print('libcst.native' in sys.modules)"
    again = subprocess.run(
        [sys.executable, "-c", watch],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert again.stdout.endswith("False\n")


@pytest.mark.parametrize(
    "kinds",
    [
        {"programs", "groups"},
        {"programs", "groups", "accounts"},
        {"programs", "groups", "accounts", "modules"},
    ],
)
@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[: len(data) // 2],
        lambda data: b"\x80\x05garbage\xff" * 9,
        lambda data: b"null",
        lambda data: b"[]",
        lambda data: b'{"findings": [[]], "problems": {"a": 1}, "also_read": 3}',
        lambda data: b'{"findings": [{"at": [], "because": [[]]}], "problems": [], "also_read": []}',
        lambda data: (
            b'{"findings": [{"at": ["a", 1, 1, 1, 1], "message": "", "because": 1}], "problems": []}'
        ),
        lambda data: b'{"findings": "", "problems": [[]], "also_read": [1]}',
        lambda data: pickle.dumps([1]),
        lambda data: b"[" * 100_000,
    ],
)
def test_damaged_entries_are_made_again(
    tree: Path, damage: Callable[[bytes], bytes], kinds: set[str]
) -> None:
    first = check()
    for path in entries(tree):
        if path.parent.name in kinds:
            path.write_bytes(damage(path.read_bytes()))
    assert check() == first
    assert check() == first


def test_entries_that_are_folders(tree: Path) -> None:
    first = check()
    for path in entries(tree):
        path.unlink()
        path.mkdir()
    assert check() == first


def test_entries_of_another_version_are_ignored(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as other:
        other.setattr(cache_module, "version", lambda _: "other")
        first = check()
        for path in entries(tree):
            assert path.parent.parent.name == "other"
            if path.parent.name != "modules":
                path.write_text(
                    '{"findings": [], "problems": [], "also_read": [], "absent": [], "limited": [], "imported": [],'
                    ' "entry_points": 0, "not_here": []}'
                )
        assert check()["findings"] == []
    assert check() == first


class Malicious:
    def __init__(self, sign: Path) -> None:
        self.sign = sign

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.sign),)


def test_code_in_the_cache_is_not_run(tree: Path) -> None:
    first = check()
    data = pickle.dumps(Malicious(tree / "owned"))
    for path in entries(tree):
        path.write_bytes(data) if path.parent.name == "modules" else path.unlink()
    assert check() == first
    assert not (tree / "owned").exists()
    for name in ("os.system", "builtins.eval", "builtins.getattr", "trainlint.program.source.syntax.Any"):
        module, _, attribute = name.rpartition(".")
        with pytest.raises(Corrupt):
            unpacked(f"c{module}\n{attribute}\n.".encode())
    pickle.loads(data)
    assert (tree / "owned").exists()


def test_a_cache_that_cannot_be_written(tree: Path) -> None:
    comments = "\n" + "# a comment that makes this file worth another process\n" * 8_000
    (tree / "big.py").write_text(TRAIN.replace("net", "other") + comments)
    first = check("--no-cache", "--jobs", "1")
    assert places(first) == [("TL301", "big.py", 10), *BOTH]
    (tree / "file").write_text("")
    assert check("--cache-dir", "file", "--jobs", "1") == first
    assert check("--cache-dir", "/proc/nowhere", "--jobs", "1") == first
    assert check("--cache-dir", "file/inside", "--jobs", "2") == first
    assert (tree / "file").read_text() == ""


def test_runs_side_by_side(tree: Path) -> None:
    command = [*executable(), "-m", "trainlint", "check", "-q", "--output-format", "concise"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    runs = [
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(4)
    ]
    said = {run.communicate(timeout=120) for run in runs}
    assert len(said) == 1
    assert [run.returncode for run in runs] == [1] * 4, said
    assert places(check()) == BOTH
    assert not [path for path in entries(tree) if path.name.startswith(".")]


def test_a_changed_import_changes_what_is_found_in_the_importer(tree: Path) -> None:
    (tree / "net.py").write_text("def wipe(optimizer):\n    pass\n")
    (tree / "train.py").write_text(
        TRAIN.replace("from net import Net", "from net import wipe").replace("Net()", "nn.Linear(4, 2)")
        + "    wipe(optimizer)\n"
    )
    assert places(check("train.py")) == [("TL301", "train.py", 10)]
    (tree / "net.py").write_text("def wipe(optimizer):\n    optimizer.zero_grad()\n")
    assert places(check("train.py")) == []
    (tree / "net.py").write_text("def wipe(optimizer):\n    pass\n")
    assert places(check("train.py")) == [("TL301", "train.py", 10)]
    (tree / "net.py").unlink()
    assert places(check("train.py")) == []


def test_an_import_that_appears(tree: Path) -> None:
    (tree / "net.py").rename(tree / "away.txt")
    assert places(check("train.py")) == BOTH[1:]
    (tree / "away.txt").rename(tree / "net.py")
    assert places(check("train.py")) == BOTH


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize("appearing", ["parts/net.py", "src/parts/net.py", "parts/net/__init__.py"])
def test_an_import_from_a_package_that_appears(tree: Path, appearing: str, jobs: str) -> None:
    filler = "\n" + "# a comment that makes these files worth another process\n" * 4_000
    (tree / "train.py").write_text(TRAIN.replace("from net", "from parts.net") + filler)
    (tree / "other.py").write_text(TRAIN.replace("from net import Net", "Net = nn.Flatten") + filler)
    given = ("--jobs", jobs, "train.py", "other.py")
    assert places(check(*given)) == [("TL301", "other.py", 10), *BOTH[1:]]
    (tree / appearing).parent.mkdir(parents=True)
    (tree / "net.py").rename(tree / appearing)
    assert ("TL101", appearing, 9) in places(check(*given))


def test_jobs_do_not_matter(tree: Path) -> None:
    filler = "\n" + "# a comment that makes these files worth another process\n" * 2_500
    for number in range(4):
        (tree / f"train{number}.py").write_text(TRAIN + filler)
    alone = check("--no-cache", "--jobs", "1")
    assert places(alone) == [*BOTH[:1], *(("TL301", f"train{end}.py", 10) for end in ("", 0, 1, 2, 3))]
    assert check("--no-cache", "--jobs", "2") == alone
    assert check("--jobs", "2") == alone


def test_given_files_report_what_has_to_do_with_them(tree: Path) -> None:
    whole = check()
    train = check("train.py")
    assert places(train) == BOTH
    assert (train["errors"], train["summary"]["files"]) == ([], 1)
    assert places(check("--no-importers", "net.py")) == []
    assert [(one["path"], one["line"]) for one in check("net.py")["findings"]] == [("net.py", 9)]
    assert check("train.py", "net.py")["findings"] == whole["findings"]


def test_what_is_not_used_for_long_is_removed(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "kept")
    assert cache.folder is not None
    young, old, half_written, others = "0" * 32, "1" * 32, f".{'2' * 32}.77", "notes.txt"
    for age, name in ((0, young), (15, old), (1, half_written), (15, others)):
        file = cache.folder / "groups" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("{}")
        then = file.stat().st_mtime - age * 24 * 3600
        os.utime(file, (then, then))
    cache.tidy()
    assert {path.name for path in (cache.folder / "groups").iterdir()} == {young, others}


def test_contents_of_what_cannot_be_read(tmp_path: Path) -> None:
    contents = Contents({"given": b"x"})
    assert contents.get("given") == b"x"
    assert contents.hash(str(tmp_path)) == contents.hash(str(tmp_path / "none")) == ""
    for path in (tmp_path, tmp_path / "none"):
        with pytest.raises(OSError):
            contents.get(str(path))
