"""Which files a run judges: those that ran, and those that the program imported, whatever they did."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.run_command import SOUND, run, write
from tests.test_confidence import CERTAIN
from tests.warm import ROOT

FREEZE = """\
def freeze(module):
    for one in module.parameters():
        one.require_grad = False
"""
PROGRAM = {
    "train.py": "from helpers.freezing import freeze\n"
    + SOUND.replace("criterion =", "freeze(model)\ncriterion ="),
    "helpers/__init__.py": "",
    "helpers/freezing.py": FREEZE,
    "helpers/unused.py": FREEZE,
}


def judged(folder: Path) -> set[tuple[str, str]]:
    document = json.loads((folder / "report.json").read_text())
    return {(one["path"], one["code"]) for one in document["findings"]}


@pytest.mark.parametrize(
    ("settings", "found"),
    [("", {("helpers/freezing.py", "TL214")}), ('extend-exclude = ["helpers"]', set[tuple[str, str]]())],
)
def test_a_helper_without_a_tensor_operation(
    settings: str, found: set[tuple[str, str]], tmp_path: Path
) -> None:
    write(tmp_path, {**PROGRAM, "trainlint.toml": settings})
    run(tmp_path, "train.py")
    assert judged(tmp_path) == found


@pytest.mark.parametrize(
    ("folder", "found"), [("work", {("helpers.py", "TL303")}), ("library", set[tuple[str, str]]())]
)
def test_what_lies_elsewhere_is_not_of_the_project(
    folder: str, found: set[tuple[str, str]], tmp_path: Path
) -> None:
    write(tmp_path, {"work/train.py": "import helpers\n" + SOUND, f"{folder}/helpers.py": CERTAIN})
    run(tmp_path / "work", "train.py", PYTHONPATH=f"{tmp_path / 'library'}{os.pathsep}{ROOT}")
    assert judged(tmp_path / "work") == found
