"""`--exclude`, `--extend-exclude` and `--extend-select`: what a command line says beside a configuration."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from trainlint.project.scope import from_here

if TYPE_CHECKING:
    from tests.conftest import Project, Trainlint

TL101 = "tl101()\n"


def files_with_findings(trainlint: Trainlint, *arguments: str) -> list[str]:
    document = json.loads(trainlint("check", "--output-format", "json", *arguments).stdout)
    assert document["errors"] == []
    return sorted(one["path"] for one in document["findings"])


@pytest.mark.quick
@pytest.mark.parametrize(
    ("arguments", "left"),
    [
        (["--exclude", "old"], ["a.py", "src/b.py"]),
        (["--exclude", "src/old"], ["a.py", "src/b.py"]),
        (["--extend-exclude", "src/*.py,a.py"], ["src/old/c.py"]),
        (["src", "--extend-exclude", "src/old"], ["src/b.py"]),
        (["src", "--extend-exclude", "*/old/"], ["src/b.py"]),
        (["src", "--extend-exclude", "old"], ["src/b.py"]),
        (["src/old/c.py", "--exclude", "old"], ["src/old/c.py"]),
    ],
)
def test_patterns_start_from_the_working_directory(
    project: Project, trainlint: Trainlint, arguments: list[str], left: list[str]
) -> None:
    project({"a.py": TL101, "src/b.py": TL101, "src/old/c.py": TL101})
    assert files_with_findings(trainlint, *arguments) == left


@pytest.mark.quick
def test_what_is_excluded_too_leaves_the_configuration_in_force(
    project: Project, trainlint: Trainlint
) -> None:
    project(
        {"trainlint.toml": 'extend-exclude = ["/x.py"]\n', **dict.fromkeys(("a.py", "x.py", "y.py"), TL101)}
    )
    assert files_with_findings(trainlint, "--extend-exclude", "y.py") == ["a.py"]
    assert files_with_findings(trainlint, "--exclude", "y.py") == ["a.py", "x.py"]


@pytest.mark.quick
@pytest.mark.parametrize(
    ("here", "root", "pattern", "written"),
    [
        ("p/src", "p", "old/a.py", ("/src/old/a.py",)),
        ("p/src", "p", "!./old/a.py", ("!/src/old/a.py",)),
        ("p/src", "p", "old/", ("old/",)),
        ("p", "p/src", "src", ("/**",)),
        ("p", "p/src", "lib/old", ()),
        ("p", "p/src", "**/old/*.py", ("**/old/*.py",)),
        ("p", "q", "old/x", ("old/x",)),
    ],
)
def test_patterns_as_a_configuration_elsewhere_would_write_them(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    here: str,
    root: str,
    pattern: str,
    written: tuple[str, ...],
) -> None:
    for folder in (here, root):
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
    monkeypatch.chdir(tmp_path / here)
    assert from_here([pattern], tmp_path / root) == written


@pytest.mark.quick
def test_rules_beside_those_that_are_on(project: Project, trainlint: Trainlint) -> None:
    project({"a.py": TL101})

    def codes(*arguments: str) -> set[str]:
        found = json.loads(trainlint("check", "--output-format", "json", *arguments).stdout)["findings"]
        return {one["code"] for one in found}

    assert codes("--select", "TL3", "--extend-select", "TL101") == {"TL101"}
    assert codes("--ignore", "TL1", "--extend-select", "TL101") == {"TL101"}
    wrong = trainlint("check", "--extend-select", "TL999")
    assert wrong.exit_code == 2
    assert "--extend-select: no rule is called `TL999`" in wrong.stderr
