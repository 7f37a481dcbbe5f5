"""The hooks as pre-commit runs them: built from this tree, on real commits."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.package_index import skip_without_index

ROOT = Path(__file__).parent.parent

MODEL = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(8, 10)

    def forward(self, x):
        return torch.softmax(self.head(x), dim=-1)
"""
TRAIN = """\
import torch
from torch import nn

from model import Net

model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(100):
    loss = nn.CrossEntropyLoss()(model(torch.randn(4, 8)), torch.randint(10, (4,)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
LOGITS = MODEL.replace("torch.softmax(self.head(x), dim=-1)", "self.head(x)")
OLD_WAY = "import torch\n\nscaler = torch.cuda.amp.GradScaler()  # kept\n"
NEW_WAY = 'import torch\n\nscaler = torch.amp.GradScaler("cuda")  # kept\n'


def notebook(source: str) -> str:
    cell: dict[str, object] = {
        "cell_type": "code",
        "execution_count": None,
        "id": "a",
        "metadata": {},
        "outputs": [],
        "source": source,
    }
    return json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """A folder for all processes of this test run."""
    folder = tmp_path_factory.getbasetemp()
    return folder if worker_id == "master" else folder.parent


@pytest.fixture(scope="session")
def surroundings(shared: Path) -> Mapping[str, str]:
    """Environment variables of a user who is nobody in particular; environments are built once for all tests."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "PYTHON"))}
    person = {f"GIT_{role}_{what}": "a@b" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    return {
        **inherited,
        **person,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
        "PRE_COMMIT_HOME": str(shared / "pre-commit"),
        "PRE_COMMIT_COLOR": "never",
    }


@pytest.fixture(scope="session")
def hooks(
    shared: Path, surroundings: Mapping[str, str], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, str]:
    """A repository that holds this tree as it is now, and its one commit."""
    own = tmp_path_factory.mktemp("hooks")
    skip_without_index(own)

    def git(*arguments: str) -> str:
        ran = subprocess.run(
            ["git", *arguments], cwd=own, env=surroundings, capture_output=True, text=True, check=True
        )
        return ran.stdout.strip()

    git("init", "-q", "--bare", "tree.git")
    tree = ("--git-dir", "tree.git", "--work-tree", str(ROOT))
    git(*tree, "add", "-A", str(ROOT))
    git(*tree, "commit", "-q", "-m", "the tree")
    git("clone", "-q", "tree.git", "clone")
    repository = shared / "trainlint-hooks"
    try:
        (own / "clone").rename(repository)
    except OSError:  # another process of this test run was here first
        assert repository.is_dir()
    return repository, git("-C", str(repository), "rev-parse", "HEAD")


Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(tmp_path: Path, surroundings: Mapping[str, str]) -> Run:
    """Run a command in the user's repository."""

    def run(*command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            cwd=tmp_path,
            env=surroundings,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )

    assert run("git", "init", "-q", "-b", "main").returncode == 0
    return run


def write(folder: Path, files: Mapping[str, str]) -> None:
    for name, content in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(content, encoding="utf-8")


def install(folder: Path, run: Run, hooks: tuple[Path, str], *entries: str) -> None:
    """Have the user's repository run hooks before each commit."""
    repository, commit = hooks
    listed = "".join(f"      - {entry}\n" for entry in entries)
    config = f"repos:\n  - repo: {repository}\n    rev: {commit}\n    hooks:\n{listed}"
    write(folder, {".pre-commit-config.yaml": config})
    installed = run(sys.executable, "-m", "pre_commit", "install")
    assert installed.returncode == 0, installed.stdout
    run("git", "add", "-A")
    committed(run)


def refused(run: Run, *paths: str) -> str:
    """What is said of a commit of these files, which must not be made."""
    before = run("git", "rev-parse", "HEAD").stdout
    run("git", "add", *paths)
    ran = run("git", "commit", "-m", "a change")
    assert ran.returncode == 1, ran.stdout
    assert run("git", "rev-parse", "HEAD").stdout == before
    return ran.stdout


def committed(run: Run, *paths: str) -> str:
    """What is said of a commit of these files, or of what is staged, which has to be made."""
    run("git", "add", *paths)
    ran = run("git", "commit", "-m", "a change")
    assert ran.returncode == 0, ran.stdout
    assert run("git", "diff", "--cached", "--quiet").returncode == 0
    return ran.stdout


def test_try_repo(tmp_path: Path, run: Run, hooks: tuple[Path, str]) -> None:
    files = {"model.py": MODEL, "train.py": TRAIN, "old.ipynb": notebook(OLD_WAY), "notes.txt": OLD_WAY}
    write(tmp_path, files)
    run("git", "add", "-A")
    ran = run(sys.executable, "-m", "pre_commit", "try-repo", str(hooks[0]), "trainlint", "--all-files")
    assert ran.returncode == 1, ran.stdout
    assert "error[TL101]" in ran.stdout and "--> model.py:11:16" in ran.stdout, ran.stdout
    assert "warning[TL401]" in ran.stdout and "--> old.ipynb:cell 1:3:" in ran.stdout
    assert "Found 1 error and 1 warning in 3 files." in ran.stdout
    assert {name: (tmp_path / name).read_text() for name in files} == files


def test_a_commit_is_refused_until_it_is_right(
    tmp_path: Path, run: Run, hooks: tuple[Path, str], surroundings: Mapping[str, str]
) -> None:
    write(tmp_path, {"model.py": MODEL, "trainlint.toml": 'exclude = ["legacy/"]\n'})
    install(tmp_path, run, hooks, "id: trainlint")
    [environment] = Path(surroundings["PRE_COMMIT_HOME"]).glob("*/py_env-*/")
    packages = {path.name for path in environment.glob("[Ll]ib/**/site-packages/*")}
    assert {"trainlint", "libcst"} <= packages
    assert not [name for name in packages if name.startswith(("torch", "numpy"))]

    write(tmp_path, {"train.py": TRAIN})
    said = refused(run, "train.py")
    assert "error[TL101]" in said and "--> model.py:11:16" in said and "::: train.py:9:" in said, said
    assert "Found 1 error in 1 file." in said
    write(tmp_path, {"model.py": LOGITS})
    assert "Passed" in committed(run, "model.py")

    write(tmp_path, {"old.ipynb": notebook(OLD_WAY)})
    assert "--> old.ipynb:cell 1:3:" in refused(run, "old.ipynb")
    write(tmp_path, {"old.ipynb": notebook(NEW_WAY), "legacy/old.py": OLD_WAY})
    assert "Passed" in committed(run, "old.ipynb", "legacy/old.py")
    write(tmp_path, {"notes.txt": "nothing to check"})
    assert "Skipped" in committed(run, "notes.txt")
    assert run("git", "status", "--porcelain").stdout == ""


def test_the_whole_checkout_can_be_checked_at_each_commit(
    tmp_path: Path, run: Run, hooks: tuple[Path, str]
) -> None:
    write(tmp_path, {"model.py": LOGITS, "train.py": TRAIN})
    install(tmp_path, run, hooks, "{id: trainlint, args: [.], pass_filenames: false}")
    write(tmp_path, {"model.py": MODEL})
    said = refused(run, "model.py")
    assert "--> model.py:11:16" in said and "::: train.py:9:" in said, said
    write(tmp_path, {"model.py": f"# Gives logits.\n{LOGITS}"})
    assert "Passed" in committed(run, "model.py")


def test_a_commit_that_was_mended_is_refused_once(tmp_path: Path, run: Run, hooks: tuple[Path, str]) -> None:
    write(tmp_path, {"shared.py": OLD_WAY})
    install(tmp_path, run, hooks, "{id: trainlint-fix, exclude: shared.py}")
    write(tmp_path, {"old.py": f"import shared\n{OLD_WAY}", "old.ipynb": notebook(OLD_WAY)})
    said = refused(run, "old.py", "old.ipynb")
    assert "files were modified by this hook" in said and "Fixed 2 findings:" in said, said
    assert (tmp_path / "old.py").read_text() == f"import shared\n{NEW_WAY}"
    assert json.loads((tmp_path / "old.ipynb").read_text())["cells"][0]["source"] == NEW_WAY
    assert "Passed" in committed(run, "old.py", "old.ipynb")
    assert (tmp_path / "shared.py").read_text() == OLD_WAY
