"""The action, the workflow and what the pages offer for other people's CI."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.package_index import skip_without_index
from tests.warm import executable
from trainlint import __version__

ROOT = Path(__file__).parent.parent
WORKFLOW = ROOT / ".github/workflows/ci.yml"
RELEASE = ROOT / ".github/workflows/release.yml"
THOROUGH = ROOT / ".github/workflows/thorough.yml"
ACTION = ROOT / "action.yml"
CI = (ROOT / "docs/ci.md").read_text(encoding="utf-8")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
SNIPPETS = [
    snippet
    for page in PAGES
    for snippet in re.findall(
        r"^```yaml\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
]
KINDS = {"repos": "pre-commit", "jobs": "vendor.github-workflows", "trainlint": "vendor.gitlab-ci"}

EXPRESSION = re.compile(r"\$\{\{ (.*?) \}\}")


def command(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        arguments, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )


def violations(schema: str, file: Path) -> str:
    """What SchemaStore's schema says against a file; nothing if it says nothing."""
    ran = command(sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, str(file))
    return ran.stdout if ran.returncode else ""


def test_action_and_workflow_are_valid(tmp_path: Path) -> None:
    assert violations("vendor.github-actions", ACTION) == ""
    assert violations("vendor.github-workflows", WORKFLOW) == ""
    assert violations("vendor.github-workflows", RELEASE) == ""
    assert violations("vendor.github-workflows", THOROUGH) == ""
    wrong = tmp_path / "action.yml"
    wrong.write_text(ACTION.read_text().replace("using: composite", "using: compositor"))
    assert "compositor" in violations("vendor.github-actions", wrong)


def test_workflow_runs_on_every_python_that_is_promised() -> None:
    jobs = yaml.safe_load(WORKFLOW.read_text())["jobs"]
    promised = re.findall(r"Python :: (3\.\d+)", (ROOT / "pyproject.toml").read_text())
    for job in ("tests", "check"):
        assert jobs[job]["strategy"]["matrix"]["python"] == promised
    assert ".ci/run" in [step.get("run") for step in jobs["tests"]["steps"]]
    assert os.access(ROOT / ".ci/run", os.X_OK)


def test_only_the_job_that_publishes_may_ask_for_a_token() -> None:
    workflow = yaml.safe_load(RELEASE.read_text())
    assert workflow["permissions"] == {"contents": "read"}
    asking = {name for name, job in workflow["jobs"].items() if "id-token" in job.get("permissions", {})}
    assert asking == {"publish", "site"}
    publish = workflow["jobs"]["publish"]
    assert publish["environment"]["name"] == "pypi"
    assert [step.get("run") for step in publish["steps"]] == [None, None]  # no code of ours beside the token
    assert "secrets." not in RELEASE.read_text()


HEADING = f"## [{__version__}] - 2026-11-30"


@pytest.mark.parametrize(
    ("tag", "heading", "said"),
    [
        (f"v{__version__}", HEADING, ""),
        ("v9.9.9", HEADING, f"the tag is v9.9.9, and the version is {__version__}"),
        (__version__, HEADING, f"the tag is {__version__}, and the version is {__version__}"),
        (f"v{__version__}", f"## {__version__} (unreleased)", "CHANGELOG.md has no heading"),
        (f"v{__version__}", f"## [{__version__}]", "CHANGELOG.md has no heading"),
    ],
)
def test_a_release_has_its_version_as_tag_and_in_the_changelog(
    tmp_path: Path, tag: str, heading: str, said: str
) -> None:
    [step] = [
        one for one in yaml.safe_load(RELEASE.read_text())["jobs"]["build"]["steps"] if one.get("id") == "tag"
    ]
    for name in ("pyproject.toml", "README.md", "hatch_readme.py", "LICENSE", "trainlint/__init__.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "CHANGELOG.md").write_text(f"# Changelog\n\n{heading}\n")
    ran = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=tmp_path,
        env={
            **os.environ,
            "TAG": tag,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode == 0) == (not said), ran.stderr
    assert said in ran.stderr


def test_every_snippet_of_the_pages_is_valid(tmp_path: Path) -> None:
    kinds = []
    for snippet in SNIPPETS:
        kind = KINDS[next(key for key in yaml.safe_load(snippet) if key in KINDS)]
        file = tmp_path / f"{kind}.yml"
        file.write_text(snippet)
        if kind == "pre-commit":
            ran = command(sys.executable, "-m", "pre_commit", "validate-config", str(file))
            assert ran.returncode == 0 and not ran.stdout, ran.stdout
        else:
            assert violations(kind, file) == ""
        kinds.append(kind)
    assert set(kinds) == set(KINDS.values())


def test_the_page_knows_every_input_of_the_action() -> None:
    inputs = yaml.safe_load(ACTION.read_text())["inputs"]
    rows = dict(re.findall(r"^\| `([a-z-]+)` \| (none|`\S+`) \|", CI, re.M))
    assert rows == {name: f"`{one['default']}`" if one["default"] else "none" for name, one in inputs.items()}


def test_the_gitlab_job_does_what_it_says(tmp_path: Path) -> None:
    [job] = [job for snippet in SNIPPETS if (job := yaml.safe_load(snippet).get("trainlint"))]
    shutil.copytree(ROOT / "fixtures/first_look", tmp_path, dirs_exist_ok=True)
    [check] = [line.split() for line in job["script"] if line.startswith("trainlint ")]
    ran = command(*executable(), "-m", *check, cwd=tmp_path)
    assert ran.returncode == 1, ran.stdout
    report = json.loads((tmp_path / job["artifacts"]["reports"]["codequality"]).read_text())
    assert {one["check_name"].split()[0] for one in report} == {"TL101", "TL301"}


@dataclass
class Runner:
    """Runs the shell steps of the action as GitHub's runner does."""

    temp: Path
    workspace: Path
    outputs: dict[str, str]

    def run(self, step: str, **inputs: str) -> subprocess.CompletedProcess[str]:
        action = yaml.safe_load(ACTION.read_text())
        given = {
            name: inputs.get(name.replace("-", "_"), one["default"]) for name, one in action["inputs"].items()
        }
        known = {**self.outputs, **{f"inputs.{name}": value for name, value in given.items()}}
        [found] = [one for one in action["runs"]["steps"] if one.get("id") == step]
        script, output = self.temp / f"{step}.sh", self.temp / f"{step}.output"
        script.write_text(found["run"])
        output.write_text("")
        ran = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
            cwd=self.workspace,
            env={**os.environ, **self._variables(output), **_resolved(found["env"], known)},
            capture_output=True,
            text=True,
            check=False,
        )
        for line in output.read_text().splitlines():
            name, _, value = line.partition("=")
            self.outputs[f"steps.{step}.outputs.{name}"] = value
        return ran

    def _variables(self, output: Path) -> dict[str, str]:
        return {
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "GITHUB_ACTION_PATH": str(ROOT),
            "GITHUB_OUTPUT": str(output),
            "GITHUB_STEP_SUMMARY": str(self.temp / "summary.md"),
            "GITHUB_WORKSPACE": str(self.workspace),
            "PYTHONPATH": str(ROOT),
            "RUNNER_TEMP": str(self.temp),
        }


def _resolved(env: Mapping[str, str], known: Mapping[str, str]) -> dict[str, str]:
    return {name: EXPRESSION.sub(lambda match: known[match[1]], value) for name, value in env.items()}


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    """A runner with a checkout, that has installed the trainlint of these tests."""
    workspace, temp = tmp_path / "work space", tmp_path / "runner temp"
    shutil.copytree(ROOT / "fixtures/first_look", workspace)
    temp.mkdir()
    installed = temp / "trainlint"
    installed.write_text(f'#!/bin/sh\nexec {shlex.join(executable())} -m trainlint "$@"\n')
    installed.chmod(0o755)
    return Runner(temp, workspace, {"steps.install.outputs.trainlint": str(installed)})


def test_no_step_of_the_action_has_inputs_in_its_text() -> None:
    steps: list[dict[str, Any]] = yaml.safe_load(ACTION.read_text())["runs"]["steps"]
    assert [step for step in steps if "${{" in step.get("run", "")] == []


def test_the_action_installs_itself_without_torch(runner: Runner, tmp_path: Path) -> None:
    skip_without_index(tmp_path)
    (runner.temp / "trainlint").unlink()
    runner.outputs = {"steps.python.outputs.python-path": sys.executable}
    ran = runner.run("install")
    assert (ran.returncode, ran.stdout) == (0, f"trainlint {__version__}\n"), ran.stdout + ran.stderr
    packages = {path.name for path in runner.temp.glob("trainlint/lib/python*/site-packages/*")}
    assert "libcst" in packages and "torch" not in packages
    assert runner.run("check").stdout.count("::error ") == 2

    release = runner.run("install", version="99.9")
    assert release.returncode != 0
    assert "No matching distribution found for trainlint==99.9" in release.stderr


def test_the_action_annotates(runner: Runner) -> None:
    ran = runner.run("check")
    assert ran.returncode == 1, ran.stderr
    [first, second] = ran.stdout.splitlines()
    assert first.startswith("::error file=models/net.py,title=TL101 softmax-before-cross-entropy,line=18,")
    assert second.startswith("::error file=train.py,title=TL301 missing-zero-grad,line=24,")
    assert not [name for name in runner.outputs if "sarif" in name]


def test_the_action_takes_words_as_a_shell_would(runner: Runner) -> None:
    spaced = runner.workspace / "two words"
    shutil.copytree(runner.workspace / "models", spaced / "models")
    (runner.workspace / "train.py").rename(spaced / "train.py")
    options = "--select\n  'TL301' --min-level \"error\""
    ran = runner.run("check", paths="losses.py 'two words'", args=options, output_format="concise")
    assert ran.returncode == 1, ran.stderr
    assert [line.split(":")[0] for line in ran.stdout.splitlines()] == ["two words/train.py"]
    alone = runner.run("check", paths="losses.py", args="--no-importers", output_format="concise")
    assert alone.returncode == 0
    broken = runner.run("check", args="--select 'TL301")
    assert broken.returncode != 0 and "quote" in broken.stderr
    assert broken.stdout == ""


def test_what_stands_in_inputs_is_never_run(runner: Runner) -> None:
    evil = "$(touch evil) `touch evil` ; touch evil"
    ran = runner.run("check", paths=evil, args="", output_format="concise")
    assert ran.returncode == 2, ran.stdout
    assert not (runner.workspace / "evil").exists()


def test_the_action_writes_sarif_beside_annotations(runner: Runner) -> None:
    ran = runner.run("check", upload_sarif="true")
    assert ran.returncode == 1
    assert ran.stdout.count("::error ") == 2
    file = Path(runner.outputs["steps.check.outputs.sarif-file"])
    [found] = json.loads(file.read_text())["runs"]
    assert {one["ruleId"] for one in found["results"]} == {"TL101", "TL301"}


def test_the_action_writes_a_summary_unless_told_not_to(runner: Runner) -> None:
    assert runner.run("check", summary="false").returncode == 1
    assert not (runner.temp / "summary.md").exists()
    ran = runner.run("check", args="--select TL301")
    assert (ran.returncode, ran.stdout.count("::error ")) == (1, 1)
    summary = (runner.temp / "summary.md").read_text()
    assert "TL301" in summary and "| missing-zero-grad |" in summary
    assert "TL101" not in summary


def test_the_action_fails_if_there_is_nothing_to_upload(runner: Runner) -> None:
    ran = runner.run("check", upload_sarif="true", paths="nowhere")
    assert ran.returncode != 0
    assert "nowhere: no such file or folder" in ran.stderr
    assert not [name for name in runner.outputs if "sarif" in name]
