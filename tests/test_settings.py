"""`trainlint config`: what is in force, and where it comes from."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from trainlint.catalogue import names
from trainlint.project.config import SETTINGS

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from tests.conftest import Project, Trainlint

ALL = """\
select = ["TL1", "missing-zero-grad"]
extend-select = ["TL302"]
ignore = ["TL102"]
per-file-ignores = { "tests/**" = ["ALL"], "a \\"b\\" \\\\ é.py" = ["TL101"] }
exclude = ["old\\u001b[31m", "x\\ty"]
extend-exclude = ["sub/"]
respect-gitignore = false
jobs = 3
cache-dir = "kept"
target-torch = "2.4"
min-level = "warning"
min-confidence = "certain"
baseline = "known.json"
rule-paths = ["lint"]
"""


def settings(trainlint: Trainlint, *arguments: str) -> dict[str, Any]:
    outcome = trainlint("config", "--output-format", "json", *arguments)
    assert outcome.exit_code == 0, outcome.stderr
    document: dict[str, Any] = json.loads(outcome.stdout)
    return document


def test_every_setting_is_shown_with_its_origin(project: Project, trainlint: Trainlint) -> None:
    project({"pyproject.toml": '[tool.trainlint]\nignore = ["TL1"]\n'})
    shown = settings(trainlint)
    assert shown["settings"].keys() == SETTINGS.keys()
    assert shown["file"] == "pyproject.toml"
    assert shown["settings"]["ignore"] == {"value": ["TL1"], "origin": "pyproject.toml"}
    others = {name: one["origin"] for name, one in shown["settings"].items() if name != "ignore"}
    assert all(origin.startswith("default") for origin in others.values()), others
    assert ".venv" in shown["settings"]["exclude"]["value"]


def test_the_text_is_a_configuration_that_says_the_same(project: Project, trainlint: Trainlint) -> None:
    project({"trainlint.toml": ALL, "lint/acme101_a/rule.py": ""})
    text = trainlint("config").stdout
    assert tomllib.loads(text) == tomllib.loads(ALL)
    assert "\x1b" not in text
    first = settings(trainlint)
    project({"trainlint.toml": text})
    assert settings(trainlint) == first


def test_without_a_configuration(project: Project, trainlint: Trainlint) -> None:
    root = project({"a.py": "tl101()\ntl101_info()\n"})
    text = trainlint("config").stdout
    assert text.startswith(f"# {root}: no configuration file\n")
    before = trainlint("check", "--output-format", "concise").stdout
    project({"trainlint.toml": text})
    assert trainlint("check", "--output-format", "concise").stdout == before


def test_rules_that_are_on(project: Project, trainlint: Trainlint) -> None:
    project({"trainlint.toml": 'select = ["TL3"]\nignore = ["missing-zero-grad"]'})
    rules = settings(trainlint)["rules"]
    assert rules["on"] == [code for code in names() if code.startswith("TL3") and code != "TL301"]
    assert sorted([*rules["on"], *rules["off"]]) == sorted(names())


def test_the_nearest_file_to_the_path_and_the_one_that_is_named(
    project: Project, trainlint: Trainlint, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = project(
        {
            "trainlint.toml": "jobs = 1",
            "sub/trainlint.toml": 'jobs = 2\nbaseline = "b.json"',
            "sub/a.py": "",
            "other.toml": "jobs = 3",
        }
    )
    assert settings(trainlint)["settings"]["jobs"] == {"value": 1, "origin": "trainlint.toml"}
    below = settings(trainlint, "sub/a.py")["settings"]
    assert below["jobs"] == {"value": 2, "origin": "sub/trainlint.toml"}
    assert below["baseline"]["value"] == "sub/b.json"
    assert settings(trainlint, "sub", "--config", "other.toml")["settings"]["jobs"]["value"] == 3
    monkeypatch.chdir(root / "sub")
    assert settings(trainlint)["settings"]["jobs"]["origin"] == "trainlint.toml"


def test_one_line_each(project: Project, trainlint: Trainlint) -> None:
    project({"trainlint.toml": 'min-level = "error"\n'})
    lines = trainlint("config", "--output-format", "concise").stdout.splitlines()
    assert len(lines) == len(SETTINGS)
    assert 'min-level="error" (trainlint.toml)' in lines


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ("selct = []", "did you mean `select`?"),
        ('min-level = "eror"', "`min-level` must be error, warning or info"),
        ("min-level = 1", "`min-level` must be error, warning or info"),
        ("baseline = 1", "`baseline` must be a path"),
        ('select = ["TL9999"]', "no rule is called `TL9999`"),
    ],
)
def test_mistakes_are_refused_as_in_a_check(
    project: Project, trainlint: Trainlint, config: str, message: str
) -> None:
    project({"trainlint.toml": config, "a.py": ""})
    for command in ("config", "check"):
        outcome = trainlint(command)
        assert (outcome.exit_code, outcome.stdout) == (2, "")
        assert message in outcome.stderr


def test_a_path_that_is_not_there(project: Project, trainlint: Trainlint) -> None:
    project({})
    assert trainlint("config", "none").stderr == "error: none: no such file or folder\n"


@pytest.mark.parametrize(
    ("config", "options", "lines"),
    [
        ("", [], [1, 2]),
        ("", ["--min-level", "info"], [1, 2]),
        ("", ["--min-level", "warning"], [1, 2]),
        ("", ["--min-level", "error"], [1]),
        ("", ["--select", "ALL"], [1, 2, 3]),
        ("", ["--select", "ALL", "--min-level", "warning"], [1, 2]),
        ('min-level = "error"', [], [1]),
        ('min-level = "error"', ["--min-level", "warning"], [1, 2]),
        ('min-level = "error"', ["--select", "ALL"], [1]),
    ],
)
def test_min_level(
    project: Project, trainlint: Trainlint, config: str, options: list[str], lines: list[int]
) -> None:
    project({"a.py": "tl101()\ntl101_warning()\ntl101_info()\n", "trainlint.toml": config})
    outcome = trainlint("check", "--output-format", "json", *options)
    assert [one["line"] for one in json.loads(outcome.stdout)["findings"]] == lines


def test_a_level_that_there_is_not(project: Project, trainlint: Trainlint) -> None:
    project({"a.py": ""})
    outcome = trainlint("check", "--min-level", "fatal")
    assert outcome.exit_code == 2
    assert "'error', 'warning', 'info'" in outcome.stderr
