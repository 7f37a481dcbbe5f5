"""`--changed-only`: what a change has brought, as real git tells it."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.warm import executable
from trainlint.cli.optional_revision import with_revision

if TYPE_CHECKING:
    from tests.conftest import Outcome, Project, Trainlint

ROOT = Path(__file__).parent.parent
LINES = "".join(f"x{number} = 1\n" for number in range(9))


@pytest.fixture(autouse=True)
def own_git(monkeypatch: pytest.MonkeyPatch) -> None:
    """Git as a user who is nobody in particular."""
    for variable in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(variable)
    for name, value in {
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
        "GIT_AUTHOR_NAME": "a",
        "GIT_AUTHOR_EMAIL": "a@b",
        "GIT_COMMITTER_NAME": "a",
        "GIT_COMMITTER_EMAIL": "a@b",
    }.items():
        monkeypatch.setenv(name, value)


def git(*arguments: str, cwd: Path | None = None) -> str:
    return subprocess.run(["git", *arguments], cwd=cwd, check=True, capture_output=True, text=True).stdout


def committed(*arguments: str) -> None:
    if not Path(".git").exists():
        git("init", "-q", "-b", "main")
    git("add", "-A")
    git("commit", "-q", "-m", "a commit", *arguments)


def found(outcome: Outcome) -> list[str]:
    assert outcome.exit_code in (0, 1), outcome.output
    return [":".join(line.split(":")[:2]) for line in outcome.stdout.splitlines()]


def changed(trainlint: Trainlint, *arguments: str) -> list[str]:
    return found(trainlint("check", "--output-format", "concise", *(arguments or ("--changed-only",))))


def test_only_changed_lines_count(project: Project, trainlint: Trainlint) -> None:
    project({"a.py": f"tl101()\n{LINES}tl101()\n", "b.py": "tl301()\n"})
    committed()
    assert changed(trainlint) == []
    project({"a.py": f"tl101()\n{LINES}tl301()\ntl101()\n"})
    assert changed(trainlint) == ["a.py:11"]
    said = trainlint("check", "--changed-only").stdout
    assert "\nFound 1 error in 2 files (3 on unchanged lines).\n" in said
    git("add", "-A")
    assert changed(trainlint) == ["a.py:11"]


def test_untracked_and_ignored_files(project: Project, trainlint: Trainlint) -> None:
    project({"a.py": "tl101()\n", ".gitignore": "generated.py\n"})
    committed()
    project({"new/b.py": "tl101()\n", "generated.py": "tl101()\n"})
    assert changed(trainlint) == ["new/b.py:1"]


def test_before_the_first_commit_all_is_new(project: Project, trainlint: Trainlint) -> None:
    project({"a.py": "tl101()\n", "b.py": "tl301()\n"})
    git("init", "-q")
    assert changed(trainlint) == ["a.py:1", "b.py:1"]
    git("add", "a.py")
    assert changed(trainlint) == ["a.py:1", "b.py:1"]


def test_a_line_that_was_removed_concerns_its_neighbours(project: Project, trainlint: Trainlint) -> None:
    project({"a.py": f"tl101()\n{LINES}clear()\ntl301()\n"})
    committed()
    project({"a.py": f"tl101()\n{LINES}tl301()\n"})
    assert changed(trainlint) == ["a.py:11"]


def test_a_change_at_any_place_of_a_finding_counts(project: Project, trainlint: Trainlint) -> None:
    project({"net.py": "tl101()\n", "train.py": f"{LINES}loss()\n"})
    committed()
    project({"train.py": f"{LINES}loss(reason())\n"})
    assert changed(trainlint) == ["net.py:1"]
    assert changed(trainlint, "--changed-only", "HEAD", "net.py") == []


def test_moved_files_keep_what_was_in_them(project: Project, trainlint: Trainlint) -> None:
    root = project({"a.py": f"tl101()\n{LINES}", "b.py": f"tl101()\n{LINES * 2}"})
    committed()
    (root / "sub").mkdir()
    git("mv", "a.py", "sub/moved.py")
    git("mv", "b.py", "b2.py")
    project({"sub/moved.py": f"tl101()\n{LINES}tl301()\n"})
    assert changed(trainlint) == ["sub/moved.py:11"]


def test_a_link_that_became_a_file_is_new(project: Project, trainlint: Trainlint) -> None:
    root = project({"a.py": "tl101()\n"})
    (root / "b.py").symlink_to("a.py")
    committed()
    (root / "b.py").unlink()
    project({"b.py": "tl101()\n"})
    assert changed(trainlint) == ["b.py:1"]


def test_hostile_names(project: Project, trainlint: Trainlint) -> None:
    names = ['q"uote.py', "tab\t.py", "new\nline.py", "é模.py", "-o.py", "sp ace.py", "diff --git a b.py"]
    project(dict.fromkeys(names, f"tl101()\n{LINES}"))
    committed()
    project(dict.fromkeys(names, f"tl101()\n{LINES}tl301()\n"))
    project({"new/un\ttracked\n.py": "tl301()\n"})
    outcome = trainlint("check", "--changed-only", "--output-format", "json")
    shown = {(one["path"], one["line"]) for one in json.loads(outcome.stdout)["findings"]}
    assert shown == {*((name, 11) for name in names), ("new/un\ttracked\n.py", 1)}


def test_settings_of_git_do_not_matter(project: Project, trainlint: Trainlint) -> None:
    project({"a.py": f"tl101()\n{LINES}", "b.py": f"tl101()\n{LINES}", ".gitattributes": "*.py -diff\n"})
    committed()
    for setting in (
        "color.ui=always",
        "diff.noprefix=true",
        "diff.external=false",
        "diff.context=9",
        "diff.interHunkContext=9",
        "diff.relative=true",
        "diff.renames=copies",
        "diff.mnemonicPrefix=true",
        "core.quotePath=true",
        "core.pager=false",
    ):
        git("config", *setting.split("="))
    project({"a.py": f"tl101()\n{LINES}tl301()\n", "b.py": f"tl101()\n{LINES.replace('x4 = 1', 'tl301()')}"})
    assert changed(trainlint) == ["a.py:11", "b.py:6"]


def test_a_revision_may_be_named(project: Project, trainlint: Trainlint) -> None:
    project({"a.py": "tl101()\n"})
    committed()
    git("tag", "v1")
    project({"b.py": "tl101()\n"})
    committed()
    project({"c.py": "tl101()\n"})
    assert changed(trainlint, "--changed-only", "HEAD") == ["c.py:1"]
    assert changed(trainlint, "--changed-only", "v1") == ["b.py:1", "c.py:1"]
    assert changed(trainlint, "--changed-only=HEAD~1", "b.py") == ["b.py:1"]
    assert changed(trainlint, "--changed-only", "HEAD~1", "--quiet", ".") == ["b.py:1", "c.py:1"]


def test_three_dots_leave_out_what_others_did(project: Project, trainlint: Trainlint) -> None:
    project({"a.py": f"{LINES}\ntl101()\n"})
    committed()
    git("checkout", "-q", "-b", "mine")
    project({"mine.py": "tl101()\n"})
    committed()
    git("checkout", "-q", "main")
    project({"a.py": f"{LINES}\ntl101(other)\n"})
    committed()
    git("checkout", "-q", "mine")
    assert changed(trainlint, "--changed-only", "main") == ["a.py:11", "mine.py:1"]
    assert changed(trainlint, "--changed-only", "main...") == ["mine.py:1"]
    assert changed(trainlint, "--changed-only", "main...HEAD") == ["mine.py:1"]


def test_in_a_folder_of_a_repository(
    project: Project, trainlint: Trainlint, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = project({"a.py": "tl101()\n", "sub/b.py": "tl101()\n"})
    committed()
    project({"a.py": "tl101(x)\n", "sub/b.py": "tl101(x)\n", "sub/c.py": "tl101()\n"})
    monkeypatch.chdir(root / "sub")
    assert changed(trainlint) == ["b.py:1", "c.py:1"]
    monkeypatch.chdir("/")
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    there = changed(trainlint, "--changed-only", "HEAD", str(root))
    assert [one.rpartition("/")[2] for one in there] == ["a.py:1", "b.py:1", "c.py:1"]


def test_a_work_tree_of_its_own_and_a_link_to_it(
    project: Project, trainlint: Trainlint, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    project({"a.py": f"tl101()\n{LINES}"})
    committed()
    git("worktree", "add", "-q", "tree")
    (tmp_path / "tree/a.py").write_text(f"tl101()\n{LINES}tl301()\n")
    (tmp_path / "link").symlink_to("tree")
    monkeypatch.chdir(tmp_path / "link")
    assert changed(trainlint) == ["a.py:11"]


def test_files_that_cannot_be_read_count_when_they_changed(project: Project, trainlint: Trainlint) -> None:
    project({"old.py": "(\n", "a.py": "x = 1\n"})
    committed()
    assert trainlint("check", "--changed-only").exit_code == 0
    project({"new.py": "(\n"})
    outcome = trainlint("check", "--changed-only")
    assert (outcome.exit_code, outcome.stderr) == (2, "error: new.py:1: is not valid Python\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--changed-only", "nope"], "--changed-only: git does not know the revision `nope`"),
        (["--changed-only=--output=x"], "git does not know the revision `--output=x`"),
        (["--changed-only=HEAD:a.py"], "git does not know the revision `HEAD:a.py`"),
        (["--changed-only", "nope...HEAD"], "git does not know the revision `nope...HEAD`"),
        (["--changed-only", "lonely...HEAD"], "`lonely...HEAD` has no common ancestor"),
        (["--changed-only", "-"], "not with standard input"),
    ],
)
def test_what_git_does_not_know_is_refused(
    project: Project, trainlint: Trainlint, arguments: list[str], message: str
) -> None:
    root = project({"a.py": "tl101()\n"})
    committed()
    git("checkout", "-q", "--orphan", "lonely")
    committed("-m", "another beginning")
    git("checkout", "-q", "main")
    outcome = trainlint("check", *arguments, stdin="x = 1\n")
    assert (outcome.exit_code, outcome.stdout) == (2, "")
    assert message in outcome.stderr
    assert sorted(file.name for file in root.iterdir()) == [".git", "a.py"]


def test_outside_of_a_repository(project: Project, trainlint: Trainlint) -> None:
    root = project({"a.py": "tl101()\n"})
    outcome = trainlint("check", "--changed-only")
    assert outcome.exit_code == 2
    assert outcome.stderr == f"error: --changed-only needs a git repository, but {root} is not in one\n"


def test_without_git(project: Project, trainlint: Trainlint, monkeypatch: pytest.MonkeyPatch) -> None:
    project({"a.py": "tl101()\n"})
    monkeypatch.setenv("PATH", "")
    outcome = trainlint("check", "--changed-only")
    assert outcome.exit_code == 2
    assert "needs git, which is not on the PATH" in outcome.stderr


def test_facts_are_read_from_unchanged_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first_look = ROOT / "fixtures/first_look"
    for file in first_look.rglob("*.py"):
        (tmp_path / file.relative_to(first_look)).parent.mkdir(exist_ok=True)
        (tmp_path / file.relative_to(first_look)).write_bytes(file.read_bytes())
    monkeypatch.chdir(tmp_path)
    committed()
    command = [*executable(), "-m", "trainlint", "check", "--changed-only", "--output-format", "concise"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    clean = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (clean.returncode, clean.stdout, clean.stderr) == (0, "", "")
    losses = tmp_path / "losses.py"
    losses.write_text(losses.read_text().replace("CrossEntropyLoss()", "CrossEntropyLoss(reduction='mean')"))
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (1, "")
    assert [line.split()[2] for line in ran.stdout.splitlines()] == ["TL101"]


def test_a_path_after_the_option_is_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "src").mkdir()
    monkeypatch.chdir(tmp_path)
    assert with_revision(["--changed-only", "src"]) == ["--changed-only=HEAD", "src"]
    assert with_revision(["--changed-only", "main", "src"]) == ["--changed-only=main", "src"]
    assert with_revision(["src", "--changed-only"]) == ["src", "--changed-only=HEAD"]
    assert with_revision(["--changed-only", "--quiet"]) == ["--changed-only=HEAD", "--quiet"]
    assert with_revision(["--changed-only=src"]) == ["--changed-only=src"]
    assert with_revision(["--", "--changed-only"]) == ["--", "--changed-only"]
