"""Which files are checked."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Project, Trainlint


def checked(trainlint: Trainlint, *arguments: str) -> list[str]:
    """The files that were looked at; each of the test's files holds one finding."""
    outcome = trainlint("check", "--output-format", "concise", *arguments)
    return [line.split(":")[0] for line in outcome.stdout.splitlines()]


def files(*names: str) -> dict[str, str]:
    return dict.fromkeys(names, "tl101()\n")


def test_python_files_are_found_once_and_in_order(project: Project, trainlint: Trainlint) -> None:
    root = project(files("b.py", "a.py", "pkg/sub/c.py", "notes.txt", "stub.pyi", "script"))
    assert checked(trainlint) == ["a.py", "b.py", "pkg/sub/c.py"]
    assert checked(trainlint, "pkg", "./b.py", "pkg/sub/../sub", str(root / "b.py")) == [
        "b.py",
        "pkg/sub/c.py",
    ]
    assert checked(trainlint, "script", "notes.txt") == ["notes.txt", "script"]


def test_paths_outside_the_working_directory_are_absolute(
    project: Project, trainlint: Trainlint, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = project(files("pkg/a.py", "pkg-two/b.py"))
    monkeypatch.chdir(root / "pkg")
    assert checked(trainlint, "..") == [str(root / "pkg-two/b.py"), "a.py"]


def test_default_exclusions(project: Project, trainlint: Trainlint) -> None:
    skipped = files(".git/a.py", ".venv/a.py", "x/node_modules/a.py", "build/a.py", "lib/site-packages/a.py")
    environment = {"myenv/pyvenv.cfg": "", "myenv/a.py": "tl101()\n"}
    project({**files("kept.py", "building/a.py"), **skipped, **environment})
    assert checked(trainlint) == ["building/a.py", "kept.py"]
    assert checked(trainlint, "build", ".venv/a.py", "myenv") == [".venv/a.py", "build/a.py", "myenv/a.py"]


def test_configured_exclusions(project: Project, trainlint: Trainlint) -> None:
    project(files("a.py", "build/a.py", "old/a.py", "sub/old/a.py", "sub/b_gen.py"))
    project({"trainlint.toml": 'extend-exclude = ["/old", "*_gen.py"]'})
    assert checked(trainlint) == ["a.py", "sub/old/a.py"]
    assert checked(trainlint, "sub") == ["sub/old/a.py"]
    assert checked(trainlint, "sub/b_gen.py") == ["sub/b_gen.py"]
    project({"trainlint.toml": 'exclude = ["old"]'})
    assert checked(trainlint) == ["a.py", "build/a.py", "sub/b_gen.py"]


@pytest.mark.parametrize("pattern", ["/old", "old/", "old", "o*d/"])
def test_a_named_folder_is_checked_whatever_excludes_it(
    project: Project, trainlint: Trainlint, pattern: str
) -> None:
    project(files("a.py", "old/a.py", "old/a_gen.py", "old/sub/b.py"))
    project({"trainlint.toml": f'exclude = ["{pattern}", "*_gen.py"]'})
    assert checked(trainlint) == ["a.py"]
    assert checked(trainlint, "old") == ["old/a.py", "old/sub/b.py"]
    assert checked(trainlint, "old/sub") == ["old/sub/b.py"]
    assert checked(trainlint, ".", "old") == ["a.py", "old/a.py", "old/sub/b.py"]


def test_gitignore(project: Project, trainlint: Trainlint) -> None:
    project(files("a.py", "gen/a.py", "runs/a.py", "sub/a.py", "sub/keep_tmp.py", "sub/x_tmp.py", "y_tmp.py"))
    project(
        {
            ".gitignore": "# generated\n!\nmodels/[2023-06-16]_0.pth\n/gen/\nruns\n*_tmp.py\n",
            "sub/.gitignore": "!keep_tmp.py\n/a.py\n",
        }
    )
    assert checked(trainlint) == ["a.py", "sub/keep_tmp.py"]
    assert checked(trainlint, "gen", "y_tmp.py") == ["gen/a.py", "y_tmp.py"]
    project({"trainlint.toml": "respect-gitignore = false"})
    assert len(checked(trainlint)) == 7


def test_gitignore_of_the_repository_around(project: Project, trainlint: Trainlint) -> None:
    project({".gitignore": "*_tmp.py\n/sub/gen/\n", ".git/info/exclude": "mine.py\n"})
    project(files("sub/a.py", "sub/a_tmp.py", "sub/gen/a.py", "sub/mine.py"))
    assert checked(trainlint, "sub") == ["sub/a.py"]
    assert checked(trainlint, "sub/gen") == ["sub/gen/a.py"]


def test_links(project: Project, trainlint: Trainlint) -> None:
    root = project(files("pkg/a.py", "data/b.py"))
    (root / "pkg/loop").symlink_to(root / "pkg", target_is_directory=True)
    (root / "pkg/data").symlink_to(root / "data", target_is_directory=True)
    (root / "pkg/linked.py").symlink_to(root / "data/b.py")
    (root / "pkg/dangling.py").symlink_to(root / "nowhere.py")
    assert checked(trainlint, "pkg") == ["pkg/a.py", "pkg/linked.py"]
    assert checked(trainlint, "pkg/data") == ["pkg/data/b.py"]


def test_a_folder_that_cannot_be_listed_is_a_problem(
    project: Project, trainlint: Trainlint, monkeypatch: pytest.MonkeyPatch
) -> None:
    listing = os.scandir

    def refusing(path: str) -> object:
        if path.endswith("secret"):
            raise PermissionError(13, "Permission denied")
        return listing(path)

    monkeypatch.setattr(os, "scandir", refusing)
    project(files("a.py", "secret/b.py"))
    outcome = trainlint("check")
    assert outcome.exit_code == 1
    assert outcome.stderr == "error: secret: cannot be read: Permission denied\n"
    alone = trainlint("check", "secret")
    assert alone.exit_code == 2
    assert alone.stderr == outcome.stderr


def test_names_that_are_not_text(project: Project, trainlint: Trainlint) -> None:
    root = project({})
    with open(os.fsencode(root) + b"/bad\xff.py", "wb") as file:
        file.write(b"tl101()\n")
    outcome = trainlint("check")
    assert outcome.exit_code == 1
    assert "--> bad\\udcff.py:1:1" in outcome.stdout
    assert trainlint("check", "--output-format", "json").exit_code == 1
