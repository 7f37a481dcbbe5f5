"""`trainlint schema`: what is read and written fits it, and what does not fit is refused by both."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft7Validator
from typer.testing import CliRunner

from tests.in_process import recorded
from tests.test_settings import ALL
from trainlint.cli.app import app
from trainlint.errors import UsageError
from trainlint.output.json_report import json_report
from trainlint.project.config import SETTINGS, read_config
from trainlint.report import Report

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from tests.conftest import Project, Trainlint

ROOT = Path(__file__).parent.parent


def schema(of: str) -> Draft7Validator:
    ran = CliRunner().invoke(app, ["schema", of])
    assert ran.exit_code == 0, ran.output
    made = json.loads(ran.stdout)
    Draft7Validator.check_schema(made)
    return Draft7Validator(made)


def test_every_setting_is_described() -> None:
    config = schema("config")
    assert isinstance(config.schema, dict)
    assert config.schema["properties"].keys() == SETTINGS.keys()
    assert all(one["description"] for one in config.schema["properties"].values())
    config.validate(tomllib.loads(ALL))


@pytest.mark.parametrize(
    "text",
    [
        "selct = []",
        'select = "TL1"',
        "select = [1]",
        "per-file-ignores = []",
        'per-file-ignores = { "a.py" = "TL1" }',
        'respect-gitignore = "yes"',
        "jobs = 0",
        'jobs = "1"',
        "cache-dir = 1",
        'min-level = "bad"',
        'min-confidence = "sure"',
        'rule-paths = "lint"',
        "target-torch = 2.4",
        'target-torch = "new"',
    ],
)
def test_what_is_refused_does_not_fit(text: str, tmp_path: Path) -> None:
    file = tmp_path / "trainlint.toml"
    file.write_text(text)
    with pytest.raises(UsageError):
        read_config(file)
    assert not schema("config").is_valid(tomllib.loads(text))


@pytest.mark.parametrize("version", ["2", "2.4", "2.4.1+cu121", " 2.6.0a0 "])
def test_versions_that_are_read_fit(version: str, tmp_path: Path) -> None:
    file = tmp_path / "trainlint.toml"
    file.write_text(f'target-torch = "{version}"')
    assert read_config(file).target_torch
    assert schema("config").is_valid({"target-torch": version})


@pytest.fixture(scope="module")
def report() -> Draft7Validator:
    return schema("report")


def test_reports_of_checks_fit(project: Project, report: Draft7Validator) -> None:
    project({"old.py": "x = (\n"})
    ran = CliRunner().invoke(
        app, ["check", "--output-format", "json", "--no-cache", ".", str(ROOT / "fixtures/first_look")]
    )
    document = json.loads(ran.stdout)
    assert document["findings"]
    assert document["errors"]
    report.validate(document)


def test_reports_with_fixes_and_what_is_not_judged_fit(project: Project, report: Draft7Validator) -> None:
    project(
        {
            "a.py": (
                "import torch\nmodel = torch.nn.Linear(2, 2)\nmodel.register_forward_hook(print)\n"
                "model.forward(torch.randn(2, 2)).sum().backward()\n"
            ),
            "b.py": "def go(thing):\n    for x in thing.parts:\n        thing.step(x).backward()\n",
        }
    )
    document = json.loads(CliRunner().invoke(app, ["check", "--output-format", "json", "--no-cache"]).stdout)
    assert [one["fix"] for one in document["findings"]]
    report.validate(document)


def test_reports_of_runs_fit(report: Draft7Validator) -> None:
    run = recorded(ROOT / "rules/tl101_softmax_before_cross_entropy/bad.py")
    document = json.loads(json_report(Report((), (), 1, 0.1, run, ("this",))))
    assert document["run"]["parameters"]
    report.validate(document)


@pytest.mark.parametrize(
    "change",
    [
        lambda one: one.pop("summary"),
        lambda one: one["findings"][0].pop("confidence"),
        lambda one: one["findings"][0].update(level="bad"),
        lambda one: one["findings"][0].update(line="1"),
        lambda one: one["findings"][0]["because"].append({}),
    ],
)
def test_a_report_that_is_otherwise_does_not_fit(
    project: Project, trainlint: Trainlint, report: Draft7Validator, change: Any
) -> None:
    project({"a.py": "tl101()\n"})
    document = json.loads(trainlint("check", "--output-format", "json").stdout)
    report.validate(document)
    change(document)
    assert not report.is_valid(document)


def test_there_is_no_other_schema() -> None:
    assert CliRunner().invoke(app, ["schema", "rules"]).exit_code == 2
