"""SARIF: what it says, and its fixes."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote_to_bytes

import pytest

from tests.hostile_report import FILES, OWN, report, sarif_of
from tests.warm import executable
from trainlint.catalogue import page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.conftest import Project, Trainlint


def test_sarif_of_hostile_names(hostile: Trainlint) -> None:
    run = sarif_of(report(hostile, "sarif").stdout)
    assert run["columnKind"] == "unicodeCodePoints"
    places = [one["locations"][0]["physicalLocation"]["artifactLocation"] for one in run["results"]]
    assert {unquote_to_bytes(one["uri"]) for one in places} == {os.fsencode(name) for name in FILES}
    assert all(re.fullmatch(r"[\w.~%/-]+", one["uri"], re.ASCII) for one in places)
    base = run["originalUriBaseIds"][places[0]["uriBaseId"]]["uri"]
    assert base == Path.cwd().as_uri() + "/"
    message = run["results"][0]["message"]["text"]
    assert r"\[a](b) {{0}} {x} losses\[0](y)" in message
    [failure] = run["invocations"][0]["toolExecutionNotifications"]
    assert not run["invocations"][0]["executionSuccessful"]
    assert failure["locations"][0]["physicalLocation"]["region"] == {"startLine": 1}


def test_sarif_says_what_json_says(project: Project, trainlint: Trainlint) -> None:
    project(
        {
            "a.py": "if x:\n    tl101(\n        x)\n",
            "b.py": "reason()\ntl301_warning()  # trainlint: ignore\ntl101_info()\n",
        }
    )
    run = sarif_of(report(trainlint, "sarif", "--select", "ALL").stdout)
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["TL101", "TL301"]
    assert [rule["help"]["markdown"] for rule in rules] == [page("TL101"), page("TL301")]
    assert rules[0]["defaultConfiguration"] == {"level": "error"}
    assert rules[0]["fullDescription"]["text"].startswith("Probabilities reach a loss")
    first, silenced, advice = run["results"]
    assert [one["level"] for one in run["results"]] == ["error", "warning", "note"]
    assert rules[first["ruleIndex"]]["id"] == first["ruleId"] == "TL101"
    physical = first["locations"][0]["physicalLocation"]
    assert physical["artifactLocation"]["uri"] == "a.py"
    assert physical["region"] == {"startLine": 2, "startColumn": 5, "endLine": 3, "endColumn": 11}
    assert physical["contextRegion"]["snippet"]["text"] == "    tl101(\n        x)"
    [related] = first["relatedLocations"]
    assert related["message"]["text"] == "this is why"
    assert related["physicalLocation"]["artifactLocation"]["uri"] == "b.py"
    assert silenced["suppressions"] == [{"kind": "inSource"}]
    assert "suppressions" not in advice


FIXABLE = """\
import torch
from torch.cuda.amp import autocast

é = "模"; model = torch.nn.Linear(2, 2)
with autocast():
    model(torch.ones(1, 2))
"""


def test_the_fixes_in_sarif_are_those_that_are_made(project: Project) -> None:
    root = project({"a.py": FIXABLE})
    command = [*executable(), "-m", "trainlint", "check", "--no-cache", "--select", "TL401"]
    ran = subprocess.run(
        [*command, "--output-format", "sarif"], env=OWN, capture_output=True, text=True, check=False
    )
    fixes = [fix for result in sarif_of(ran.stdout)["results"] for fix in result.get("fixes", ())]
    assert fixes
    lines = FIXABLE.splitlines(keepends=True)
    replacements = {
        json.dumps(one["deletedRegion"], sort_keys=True): one
        for fix in fixes
        for change in fix["artifactChanges"]
        for one in change["replacements"]
    }
    for one in sorted(replacements.values(), key=lambda one: -offset(lines, one["deletedRegion"], "start")):
        text = "".join(lines)
        first, last = (offset(lines, one["deletedRegion"], side) for side in ("start", "end"))
        lines = (text[:first] + one["insertedContent"]["text"] + text[last:]).splitlines(keepends=True)
    subprocess.run([*command, "--fix", "--unsafe-fixes"], env=OWN, capture_output=True, check=False)
    assert (root / "a.py").read_text() == "".join(lines) != FIXABLE


def offset(lines: Sequence[str], region: dict[str, int], side: str) -> int:
    before = lines[: region[f"{side}Line"] - 1]
    return sum(map(len, before)) + region[f"{side}Column"] - 1


def test_sarif_without_findings(project: Project, trainlint: Trainlint) -> None:
    project({"a.py": "x = 1\n"})
    run = sarif_of(trainlint("check", "--output-format", "sarif").stdout)
    assert (run["results"], run["tool"]["driver"]["rules"]) == ([], [])
    assert run["invocations"][0]["executionSuccessful"]


def test_paths_elsewhere_are_whole_in_sarif(
    project: Project, trainlint: Trainlint, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = project({"here/x.txt": "", "there/a b.py": "tl101()\n"})
    monkeypatch.chdir(root / "here")
    run = sarif_of(report(trainlint, "sarif", "../there").stdout)
    place = run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert place == {"uri": (root / "there/a b.py").as_uri()}
