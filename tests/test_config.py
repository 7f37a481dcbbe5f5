"""Configuration files: where they are found, what they may say, and what is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Project, Trainlint

CODE = {"a.py": "tl101()\ntl301()\ntl101_info()\n"}


def codes(trainlint: Trainlint, *arguments: str) -> list[str]:
    """What is found, as `path:line`."""
    outcome = trainlint("check", "--output-format", "concise", *arguments)
    assert outcome.exit_code in (0, 1), outcome.stderr
    return [":".join(line.split(":")[:2]) for line in outcome.stdout.splitlines()]


@pytest.mark.parametrize(
    ("config", "found"),
    [
        ("", ["a.py:1", "a.py:2"]),
        ('select = ["TL3"]', ["a.py:2"]),
        ('select = ["softmax-before-cross-entropy"]', ["a.py:1", "a.py:3"]),
        ('extend-select = ["TL101"]', ["a.py:1", "a.py:2", "a.py:3"]),
        ('ignore = ["TL101"]', ["a.py:2"]),
        ('select = ["ALL"]\nignore = ["TL3"]', ["a.py:1", "a.py:3"]),
    ],
)
def test_selection(project: Project, trainlint: Trainlint, config: str, found: list[str]) -> None:
    project({**CODE, "trainlint.toml": config})
    assert codes(trainlint) == found
    project(
        {"trainlint.toml": "", "pyproject.toml": f"[tool.trainlint]\n{config}", "sub/trainlint.toml": config}
    )
    assert codes(trainlint, "--config", "pyproject.toml") == found
    assert codes(trainlint, "--config", "sub/trainlint.toml") == found


def test_the_command_line_decides_over_the_configuration(project: Project, trainlint: Trainlint) -> None:
    project({**CODE, "trainlint.toml": 'extend-select = ["TL101"]\nignore = ["TL301"]'})
    assert codes(trainlint, "--select", "TL3") == ["a.py:2"]
    assert codes(trainlint, "--ignore", "ALL") == ["a.py:1", "a.py:3"]
    assert codes(trainlint, "--ignore", "TL101") == []


def test_the_nearest_configuration_above_the_paths_is_used(project: Project, trainlint: Trainlint) -> None:
    project(
        {
            "pyproject.toml": '[tool.trainlint]\nignore = ["TL1"]',
            "one/pyproject.toml": "[project]\nname = 'no settings of ours'",
            "one/a.py": CODE["a.py"],
            "two/trainlint.toml": 'ignore = ["TL3"]',
            "two/pyproject.toml": '[tool.trainlint]\nignore = ["ALL"]',
            "two/deep/a.py": CODE["a.py"],
        }
    )
    assert codes(trainlint, "one") == ["one/a.py:2"]
    assert codes(trainlint, "two/deep/a.py") == ["two/deep/a.py:1"]
    assert codes(trainlint, "one", "two") == ["one/a.py:2", "two/deep/a.py:2"]


def test_per_file_ignores_start_from_the_configuration(
    project: Project, trainlint: Trainlint, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = project(
        {
            "trainlint.toml": '[per-file-ignores]\n"/tests/*" = ["ALL"]\n"gan*.py" = ["TL101", "missing-zero-grad"]',
            "tests/test_a.py": "tl101()\n",
            "sub/tests/a.py": "tl101()\n",
            "sub/gan_train.py": "tl101()\ntl301()\n",
        }
    )
    assert codes(trainlint) == ["sub/tests/a.py:1"]
    monkeypatch.chdir(root / "tests")
    assert codes(trainlint) == []
    assert codes(trainlint, "test_a.py", "--select", "TL101") == []


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ("selct = []", "`selct` is not a setting; did you mean `select`?"),
        ("per-file-ignore = {}", "did you mean `per-file-ignores`?"),
        ('select = "TL101"', "`select` must be a list of strings"),
        ("ignore = [1]", "`ignore` must be a list of strings"),
        ('respect-gitignore = "yes"', "`respect-gitignore` must be true or false"),
        ("jobs = true", "`jobs` must be a number from 1"),
        ("jobs = 0", "`jobs` must be a number from 1"),
        ("cache-dir = 1", "`cache-dir` must be a path"),
        ('per-file-ignores = ["a.py"]', "`per-file-ignores` must be a table"),
        ('per-file-ignores = {"a.py" = "TL101"}', "`per-file-ignores` must be a table"),
        ('select = ["TL9999"]', "no rule is called `TL9999`"),
        ('select = [""]', "no rule is called ``"),
        ('ignore = ["missing-zero-gard"]', "did you mean `missing-zero-grad`?"),
        ('extend-select = ["XY1"]', "no rule is called `XY1`"),
        ('per-file-ignores = {"a.py" = ["NONE"]}', "no rule is called `NONE`"),
        ('exclude = ["sub/", "!"]', "`!` is not a valid .gitignore pattern"),
        ('per-file-ignores = {"!" = ["ALL"]}', "`!` is not a valid .gitignore pattern"),
        ("select = [", "is not valid TOML"),
    ],
)
def test_mistakes_are_refused(project: Project, trainlint: Trainlint, config: str, message: str) -> None:
    project({**CODE, "trainlint.toml": config})
    outcome = trainlint("check")
    assert outcome.exit_code == 2
    assert message in outcome.stderr


def test_a_named_pyproject_without_settings_is_refused(project: Project, trainlint: Trainlint) -> None:
    project({**CODE, "pyproject.toml": "[project]"})
    outcome = trainlint("check", "--config", "pyproject.toml")
    assert outcome.exit_code == 2
    assert "has no [tool.trainlint] section" in outcome.stderr


def test_a_byte_order_mark_is_no_mistake(project: Project, trainlint: Trainlint) -> None:
    project({**CODE, "pyproject.toml": "\ufeff[project]\nname = 'a'\n[tool.trainlint]\nselect = ['TL301']\n"})
    outcome = trainlint("check")
    assert outcome.exit_code == 1
    assert outcome.stderr == ""
