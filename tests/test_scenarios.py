"""Small programs, the bug and the twin that only looks like it, and what must be said of each line."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest

from trainlint.check.analysis import Source, analyse
from trainlint.finding import Finding
from trainlint.rule_tests.marks import Mark, marks, misfits

SCENARIOS = Path(__file__).parent.parent / "fixtures" / "scenarios"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"^# file: (\S+)\n", re.MULTILINE)
Marks = set[tuple[str, int, str]]
"""Path, line and code."""


@dataclass(frozen=True)
class Scenario:
    """One section of a page: files by path, `train.py` where no other is named."""

    name: str
    files: dict[str, str]

    def marked(self, kind: str) -> Marks:
        """The lines with an `# error: CODE`, a `# because: CODE` or an `# info: CODE`."""
        return {
            (path, mark.line, mark.code) for path, text in self.files.items() for mark in marks(text, kind)
        }

    def misfits(self, findings: Iterable[Finding]) -> list[Mark]:
        """Marks that say more of a finding than is true."""
        found = list(findings)
        return [
            mark
            for path, text in self.files.items()
            for kind in ("error", "info")
            for mark in misfits(marks(text, kind), (one for one in found if one.at.path == path))
        ]

    def because_misfits(self, findings: Iterable[Finding]) -> list[Mark]:
        """The same for second places of findings."""
        places = [(one.code, place) for one in findings for place in one.because]
        return [
            mark
            for path, text in self.files.items()
            for mark in marks(text, "because")
            if not any(
                code == mark.code and place.at.path == path and mark.fits(place.at, place.message, None)
                for code, place in places
            )
        ]

    def write(self, folder: Path) -> None:
        for path, text in self.files.items():
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)


def scenarios() -> list[Scenario]:
    found = []
    for page in sorted(SCENARIOS.glob("*.md")):
        for section in re.split(r"^## ", page.read_text(), flags=re.MULTILINE)[1:]:
            (block,) = BLOCK.findall(section)
            first, *named = FILE.split(block)
            files = dict(zip(named[::2], named[1::2], strict=True))
            if first.strip():
                files["train.py"] = first
            found.append(Scenario(f"{page.stem}: {section.partition(chr(10))[0]}", files))
    return found


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("scenario", scenarios(), ids=lambda scenario: scenario.name)
def test_scenario(scenario: Scenario, folder: Path) -> None:
    scenario.write(folder)
    analysis = analyse([Source(path) for path in scenario.files])
    assert analysis.problems == ()
    findings = [one for one in analysis.findings if one.level != "info"]
    assert {(one.at.path, one.at.line, one.code) for one in findings} == scenario.marked("error")
    assert scenario.misfits(analysis.findings) == []
    assert scenario.because_misfits(findings) == []
    told = scenario.marked("info")
    codes = {code for _, _, code in told}
    infos = [one for one in analysis.findings if one.level == "info" and one.code in codes]
    assert {(one.at.path, one.at.line, one.code) for one in infos} == told


def test_names_are_unique() -> None:
    names = [scenario.name for scenario in scenarios()]
    assert len(set(names)) == len(names) >= 90


@pytest.mark.parametrize(
    "line",
    (
        "x = 1  # error: TL1O1",
        "x = 1  # error: TL101[bad]",
        "x = 1  # because: TL101 col",
        'x  # info: TL101 "',
    ),
)
def test_a_mark_that_cannot_be_read_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match="is no mark"):
        list(marks(line, "error"))


@pytest.mark.parametrize(
    "title", ("the loss in a second file, the loop in a third", "the sibling that returns logits")
)
def test_command_line(title: str, folder: Path) -> None:
    (scenario,) = (one for one in scenarios() if one.name == f"softmax_across_files: {title}")
    scenario.write(folder)
    command = [sys.executable, "-m", "trainlint", "check", ".", "--no-cache", "--output-format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    wanted = scenario.marked("error")
    assert done.returncode == (1 if wanted else 0)
    found = json.loads(done.stdout)["findings"]
    assert {(one["path"], one["line"], one["code"]) for one in found} == wanted
    because = {(place["path"], place["line"], one["code"]) for one in found for place in one["because"]}
    assert because == scenario.marked("because")
