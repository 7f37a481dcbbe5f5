"""Every rule's page is its test: a line marked `# error` is found, as the mark says, and no other line is."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

from tests.gloo import ended_by_itself
from tests.in_process import findings_of_run
from tests.warm import Ran, python
from trainlint.finding import Finding
from trainlint.fixing.rounds import fixed
from trainlint.rule_tests.asking import (
    check_for,
    checked,
    written,
    wrong_with_example,
    wrong_with_fix,
    wrong_with_pair,
)
from trainlint.rule_tests.pages import Block, blocks, wrong_with_page
from trainlint.rules import Entry, entries

FRAMEWORKS = ("accelerate", "lightning", "peft", "trl", "datasets", "torchmetrics")

RULES = pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry.folder.name)
FIXED = pytest.mark.parametrize(
    "entry", [entry for entry in entries() if entry.fix is not None], ids=lambda entry: entry.folder.name
)
BLOCKS = pytest.mark.parametrize("block", [one for entry in entries() for one in blocks(entry)], ids=str)
TRACED = pytest.mark.parametrize(
    "entry",
    [entry for entry in entries() if entry.rule.by != "S" and entry.rule.refutable],
    ids=lambda entry: entry.folder.name,
)
SCRIPTS = pytest.mark.parametrize("script", ("bad.py", "good.py"))


def test_codes_are_unique() -> None:
    codes = [entry.code for entry in entries()]
    assert len(codes) == len(set(codes))
    assert all(re.fullmatch(r"TL\d{3}", code) for code in codes)


@RULES
def test_page_has_what_a_reader_needs(entry: Entry) -> None:
    assert list(wrong_with_page(entry)) == []


@BLOCKS
def test_page_example(block: Block, tmp_path: Path) -> None:
    marked = written(block, tmp_path)
    findings = (
        _of_run(tmp_path, block.entry.rule.steps)
        if block.entry.rule.by == "T"
        else checked(*sorted(marked)).findings
    )
    assert list(wrong_with_example(block, marked, findings)) == []


def _of_run(folder: Path, steps: int) -> list[Finding]:
    """The findings of a program that is run: `train.py`, or the only file there is."""
    script = folder / "train.py"
    return findings_of_run(script if script.exists() else folder / "page.py", steps)


def said_of_run(entry: Entry, script: str, steps: int = 1) -> list[Finding]:
    found = findings_of_run(entry.folder / script, steps)
    return [one for one in found if one.code == entry.code and one.verdict in ("confirmed", "observed")]


@TRACED
def test_run_of_bad_shows_it_and_run_of_good_does_not(entry: Entry, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(entry.folder)
    shown = said_of_run(entry, "bad.py") or said_of_run(entry, "bad.py", steps=40)
    assert shown, "the run of bad.py does not show what is wrong with it"
    assert said_of_run(entry, "good.py") == []


@RULES
def test_bad_is_found_and_good_is_not(entry: Entry) -> None:
    assert list(wrong_with_pair(entry)) == []


def _ended(script: Path) -> Ran:
    """How a script ended."""
    return ended_by_itself(lambda: python([script.name], script.parent, seconds=60))


@RULES
@SCRIPTS
def test_script_runs_and_shows_the_symptom(entry: Entry, script: str) -> None:
    _skip_without_frameworks(entry.folder / script)
    ran = _ended(entry.folder / script)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.strip()


def _skip_without_frameworks(script: Path) -> None:
    """Skip what imports a framework that only the extra `dev-frameworks` installs."""
    for name in FRAMEWORKS:
        imported = re.search(rf"^(?:from|import) {name}\b", script.read_text(encoding="utf-8"), re.MULTILINE)
        if imported and importlib.util.find_spec(name) is None:
            pytest.skip(f"{name} is not installed: pip install -e '.[dev-frameworks]'")


@FIXED
def test_page_shows_what_the_fix_does_and_bad_is_mended(entry: Entry) -> None:
    assert list(wrong_with_fix(entry)) == []


@FIXED
def test_bad_still_runs_once_it_is_fixed(entry: Entry, tmp_path: Path) -> None:
    files = {"bad.py": (entry.folder / "bad.py").read_text(encoding="utf-8")}
    script = tmp_path / "bad.py"
    script.write_bytes(fixed(check_for(entry, files), unsafe=True, writes=False).files["bad.py"].after)
    _skip_without_frameworks(script)
    ran = _ended(script)
    assert ran.returncode == 0, ran.stderr
