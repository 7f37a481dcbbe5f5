"""`trainlint doctor`: what is said of an environment and of a folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from email.message import Message
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from tests.own import FILES, TRAIN
from trainlint.cli.app import app
from trainlint.doctor import installed
from trainlint.project.own_rules import TRUSTED
from trainlint.rules import bring

if TYPE_CHECKING:
    from tests.conftest import Project

ROOT = Path(__file__).parent.parent
SILENT = "What keeps rules silent here"
SOFTMAX = TRAIN.replace("mse_loss(model(", "cross_entropy(model(").replace(
    "(32, 1))", "(32, 2), nn.Softmax(1))"
)


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv(TRUSTED, raising=False)
    yield
    bring(())


def rows(section: str, *arguments: str, code: int = 0) -> dict[str, tuple[str, str]]:
    """What is said in a section, by name, with its state."""
    ran = CliRunner().invoke(app, ["doctor", "--output-format", "json", *arguments])
    assert ran.exit_code == code, ran.output
    found = json.loads(ran.stdout)["sections"][section]
    return {one["name"]: (one["state"], one["said"]) for one in found}


def test_it_imports_neither_torch_nor_the_code(project: Project) -> None:
    root = project({"train.py": "open('ran', 'w')\n" + TRAIN})
    ran = subprocess.run(
        [sys.executable, "-m", "trainlint", "doctor"],
        cwd=root,
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'fixtures/poison'}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "  entry points: 1: bodies of files" in ran.stdout
    assert not (root / "ran").exists()


@pytest.mark.parametrize(
    ("torch", "state", "said"),
    [
        (None, "note", "not installed: `check` needs none"),
        ("2.3.1+cu121", "wrong", "2.3.1+cu121: too old to be recorded; `run` needs 2.4"),
        ("2.4.0", "ok", "2.4.0"),
        ("2.13.1", "ok", "2.13.1"),
        ("2.14.0a0", "note", "2.14.0a0: newer than 2.13, the newest that rules know"),
        ("main", "note", "main, of which nothing is known"),
    ],
)
def test_torch(
    project: Project, monkeypatch: pytest.MonkeyPatch, torch: str | None, state: str, said: str
) -> None:
    project({"train.py": TRAIN})

    def version(package: str) -> str:
        if package != "torch" or torch is None:
            raise PackageNotFoundError
        return torch

    monkeypatch.setattr(installed, "version", version)
    found = rows("Installed", code=1 if state == "wrong" else 0)
    assert found["torch"][0] == state
    assert found["torch"][1].startswith(said)
    assert found["watch"] == ("note", "not installed; for --watch: pip install 'trainlint[watch]'")


@pytest.mark.parametrize(
    ("now", "state", "said"), [((3, 9), "wrong", "older than 3.10"), ((3, 10), "ok", ""), ((3, 15), "note", "newer than 3.14")]
)  # fmt: skip
def test_python(monkeypatch: pytest.MonkeyPatch, now: tuple[int, int], state: str, said: str) -> None:
    package = Message()
    for one in (10, 14):
        package["Classifier"] = f"Programming Language :: Python :: 3.{one}"
    monkeypatch.setattr(installed, "metadata", lambda _: package)
    monkeypatch.setattr(sys, "version_info", now)
    row = installed._python()
    assert (row.state, said in row.said) == (state, True)


def test_what_is_in_force_and_what_is_seen(project: Project) -> None:
    project(
        {
            "trainlint.toml": 'cache-dir = "kept"\ntarget-torch = "2.6"\n',
            "train.py": f"import lightning\n{TRAIN}",
            "a.py": "",
        }
    )
    assert rows("Configuration")["cache"] == ("ok", "kept: empty")
    found = rows("Configuration")
    assert found["file"] == ("ok", "trainlint.toml")
    assert found["target torch"] == ("ok", "2.6 (trainlint.toml)")
    assert found["cache"][1].startswith("kept: ")
    assert "entries" in found["cache"][1]
    seen = rows("Code")
    assert seen["files"] == ("ok", "2 files, of which 1 speak of training")
    assert seen["entry points"][1].startswith("1: ")
    assert seen["frameworks"] == ("ok", "lightning in 1 file")


def test_what_keeps_rules_silent(project: Project) -> None:
    project(
        {
            **FILES,
            "trainlint.toml": 'rule-paths = ["lint"]\nignore = ["TL101"]\nmin-confidence = "certain"\n'
            'min-level = "error"\nper-file-ignores = { "a.py" = ["TL3"] }\n',
            "train.py": "def go(thing):\n    thing.backward()\n    thing.zero_grad()\n    return thing\n",
        }
    )
    found = rows(SILENT)
    assert found["only a run shows"][0] == "ok"
    assert found["off"][1].startswith("TL")
    assert found["off in some files"] == ("note", "TL3 in a.py")
    assert found["left out"][1].startswith(
        "ACME101: rules of the project's own run if TRAINLINT_OWN_RULES lists "
    )
    assert found["min-level"] == ("note", "error: nothing below it is shown")
    assert found["min-confidence"][0] == "note"
    assert "comments" not in found


def test_comments_and_a_baseline(project: Project) -> None:
    silenced = SOFTMAX.replace("nn.Softmax(1))\n", "nn.Softmax(1))  # trainlint: ignore[TL101]\n")
    project({"trainlint.toml": 'baseline = "known.json"\n', "a.py": SOFTMAX, "b.py": silenced})
    assert CliRunner().invoke(app, ["check", "--write-baseline", "--no-cache"]).exit_code == 0
    found = rows(SILENT)
    assert found["comments"] == ("note", "1 finding silenced by `# trainlint: ignore`")
    assert found["baseline"] == ("note", "1 finding in it")


def test_what_is_in_the_way_and_the_rest_is_still_said(project: Project) -> None:
    project({"trainlint.toml": "selct = []\n"})
    assert rows("Configuration", code=1)["file"][0] == "wrong"
    project({"trainlint.toml": ""})
    assert rows("Code", code=1)["files"] == ("wrong", "no Python files or notebooks found in .")
    project({"train.py": "x = (\n"})
    assert rows("Code", code=1)["cannot be read"][0] == "wrong"


def test_text_names_what_json_names(project: Project) -> None:
    project({"train.py": TRAIN})
    text = CliRunner().invoke(app, ["doctor"]).stdout
    concise = CliRunner().invoke(app, ["doctor", "--output-format", "concise"]).stdout
    for name, (state, said) in rows("Code").items():
        assert f"  {name}: {said}\n" in text
        assert f"{state}: code: {name}: {said}\n" in concise
