"""The folder of the cache: small, shared by processes, and removed without touching anything else."""

from __future__ import annotations

import contextlib
import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.warm import executable
from trainlint.cache import folder as cache_folder
from trainlint.cache.folder import clean, mark, tidy

if TYPE_CHECKING:
    from tests.conftest import Project, Trainlint

ROOT = Path(__file__).parent.parent
FIRST_LOOK = ROOT / "fixtures/first_look"
TAG = "Signature: 8a477f597d28d172789f06886806bc55"


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Code that leaves entries of every kind in a cache."""
    for file in FIRST_LOOK.rglob("*.py"):
        (tmp_path / file.relative_to(FIRST_LOOK)).parent.mkdir(exist_ok=True)
        (tmp_path / file.relative_to(FIRST_LOOK)).write_bytes(file.read_bytes())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def start(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*executable(), "-m", "trainlint", *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(*arguments: str) -> str:
    process = start(*arguments)
    out, error = process.communicate(timeout=120)
    assert process.returncode in (0, 1), error
    assert error == ""
    return out


def entry(folder: Path, number: int, *, size: int = 1, age: float = 0) -> Path:
    file = folder / ("0" * 16) / "groups" / f"{number:032x}"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"x" * size)
    then = file.stat().st_mtime - age
    os.utime(file, (then, then))
    return file


def test_it_is_marked_as_a_cache(tree: Path) -> None:
    run("check")
    assert (tree / ".trainlint_cache/CACHEDIR.TAG").read_text().startswith(TAG)
    assert (tree / ".trainlint_cache/.gitignore").read_text() == "*\n"


def test_clean_removes_it_and_says_what_went(tree: Path) -> None:
    first = run("check", "--output-format", "concise")
    said = run("clean")
    assert said.startswith("Removed ") and said.endswith(" from .trainlint_cache.\n")
    assert int(said.split()[1]) > 5
    assert not (tree / ".trainlint_cache").exists()
    assert run("clean") == "There is no cache in .trainlint_cache.\n"
    assert run("check", "--output-format", "concise") == first


def test_clean_takes_the_folder_that_check_takes(project: Project, trainlint: Trainlint) -> None:
    root = project({"a.py": "", "trainlint.toml": 'cache-dir = "kept"'})
    for folder in ("kept", "other"):
        mark(root / folder)
        entry(root / folder, 1)
    assert trainlint("clean").stdout == "Removed 1 entry (0.0 kB) from {}.\n".format(root / "kept")
    assert not (root / "kept").exists()
    assert trainlint("clean", "--cache-dir", "other").stdout == "Removed 1 entry (0.0 kB) from other.\n"
    assert trainlint("clean", "--config", "none.toml").exit_code == 2


def test_what_is_not_of_the_cache_stays(project: Project, trainlint: Trainlint) -> None:
    files = {
        "src/pkg/module.py": "x = 1\n",
        "notes.txt": "mine\n",
        f"{'a' * 16}/groups/notes.txt": "mine\n",
        f"{'a' * 16}/{'0' * 32}": "mine\n",
        f"elsewhere/groups/{'0' * 32}": "mine\n",
    }
    root = project(files)
    for file in root.rglob("*.*"):
        os.utime(file, (0, 0))
    entry(root, 1)
    tidy(root)
    assert trainlint("clean", "--cache-dir", ".").stdout == (
        "Removed 1 entry (0.0 kB) from ..\nThe folder was not removed: it contains files that are not part of the "
        "cache.\n"
    )
    left = {str(file.relative_to(root)) for file in root.rglob("*") if file.is_file()}
    assert left == set(files)


def test_links_are_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    kept = entry(outside, 1, age=10**7)
    cache = tmp_path / "cache"
    mark(cache)
    (cache / ("0" * 16)).symlink_to(outside / ("0" * 16))
    inside = cache / ("1" * 16) / "groups"
    inside.mkdir(parents=True)
    (inside / ("2" * 32)).symlink_to(kept)
    tidy(cache)
    clean(cache)
    assert kept.read_bytes() == b"x"


def test_it_is_bounded_in_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_folder, "MOST_BYTES", 1000)
    files = [entry(tmp_path, number, size=100, age=number * 60) for number in range(10)]
    tidy(tmp_path)
    assert all(file.exists() for file in files)
    newest = entry(tmp_path, 10, size=100)
    tidy(tmp_path)
    assert newest.exists()
    assert [file.exists() for file in files] == [True] * 7 + [False] * 3


def test_what_other_versions_have_left_goes_and_leaves_no_empty_folder(tmp_path: Path) -> None:
    entry(tmp_path, 1, age=15 * 24 * 3600)
    young = tmp_path / ("1" * 16) / "groups" / ("1" * 32)
    young.parent.mkdir(parents=True)
    young.write_text("")
    tidy(tmp_path)
    assert [one.name for one in tmp_path.iterdir()] == ["1" * 16]


def test_what_was_left_half_written_goes_after_an_hour(tmp_path: Path) -> None:
    files = [entry(tmp_path, number, age=minutes * 60) for number, minutes in enumerate((50, 70, 70))]
    written, left = (file.rename(file.with_name(f".{file.name}.7")) for file in files[:2])
    tidy(tmp_path)
    assert (written.exists(), left.exists()) == (True, False)
    assert files[2].exists(), "a whole entry is kept for longer"


def test_a_run_keeps_the_bound(tree: Path) -> None:
    cache = tree / ".trainlint_cache"
    run("check")
    size = sum(file.stat().st_size for file in cache.rglob("*") if file.is_file())
    limit = "import trainlint.cache.folder as f, sys; f.MOST_BYTES = int(sys.argv.pop(1)); "
    program = f"{limit}from trainlint.cli.app import app; app()"
    for number in range(4):
        (tree / "train.py").write_text((FIRST_LOOK / "train.py").read_text() + f"\n\nNUMBER = {number}\n")
        subprocess.run(
            [sys.executable, "-c", program, str(size), "check", "--output-file", os.devnull],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            check=False,
        )
        kept = sum(file.stat().st_size for file in cache.rglob("*") if file.is_file())
        assert 0 < kept <= 1.5 * size


def damage(cache: Path, choice: random.Random) -> None:
    """Write garbage into some entries, as far as they are still there."""
    entries = [os.path.join(folder, name) for folder, _, names in os.walk(cache) for name in names]
    for file in choice.sample(entries, k=min(3, len(entries))):
        with contextlib.suppress(OSError), open(file, "r+b") as opened:
            opened.write(b"\x80garbage")
    time.sleep(0.01)


def test_checks_cleanings_and_damage_at_once(tree: Path) -> None:
    """Real processes: whatever the others do to the cache, each of them says what is true."""
    alone = json.loads(run("check", "--no-cache", "--output-format", "json"))["findings"]
    assert len(alone) == 2
    choice = random.Random(0)
    for _ in range(2):
        checks = [start("check", "--output-format", "json") for _ in range(3)]
        cleanings = [start("clean")]
        while any(one.poll() is None for one in checks):
            damage(tree / ".trainlint_cache", choice)
        for one in (*checks, *cleanings):
            out, error = one.communicate(timeout=120)
            assert error == ""
            if one in checks:
                assert one.returncode == 1
                assert json.loads(out)["findings"] == alone
            else:
                assert one.returncode == 0
    run("check")
    run("clean")
    assert not (tree / ".trainlint_cache").exists()
