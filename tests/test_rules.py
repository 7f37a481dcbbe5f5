"""Every rule's page is its test: a line marked `# error` is found, as the mark says, and no other line is.

A line marked `# todo: no error` is a known miss: not found, so that mending it changes the page. A line
`# file: models/net.py` begins another file of the same program.
"""

from __future__ import annotations

import importlib.util
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.in_process import findings_of_run
from tests.marks import Mark, misfits, page_marks, unmarked
from tests.scripts import Runner
from trainlint.check.analysis import Analysis, Source, analyse
from trainlint.finding import Finding
from trainlint.fixing.rounds import Check, fixed
from trainlint.project.source_texts import SourceTexts
from trainlint.project.target import target_near
from trainlint.report import Report
from trainlint.rules import Entry, entries

FRAMEWORKS = ("accelerate", "lightning", "peft", "trl", "datasets", "torchmetrics")
FIX = "Fix"
"""The section of a page about what `--fix` does, after `Instead`: one of the examples, fixed."""
SECTIONS = ("Why is this bad?", "Example", "Instead", "When it stays silent", "Known misses", "Source")
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"^# file: (\S+)\n", re.MULTILINE)
TODO = re.compile(r"# todo: no error$", re.MULTILINE)


class Block(NamedTuple):
    """One Python example of a page: the rule, the section and the line it stands in, and its text."""

    entry: Entry
    section: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.entry.code}-line{self.line}"

    def files(self) -> Iterator[tuple[str, str]]:
        first, *rest = FILE.split(self.text)
        if first.strip():
            yield "page.py", first
        yield from zip(rest[::2], rest[1::2], strict=True)


def blocks() -> Iterator[Block]:
    for entry in entries():
        for found in BLOCK.finditer(entry.page):
            before = entry.page[: found.start()]
            section = before.rpartition("\n## ")[2].partition("\n")[0]
            yield Block(entry, section, before.count("\n") + 1, found[1])


RULES = pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry.folder.name)
FIXED = pytest.mark.parametrize(
    "entry", [entry for entry in entries() if entry.fix is not None], ids=lambda entry: entry.folder.name
)
BLOCKS = pytest.mark.parametrize("block", list(blocks()), ids=str)
TRACED = pytest.mark.parametrize(
    "entry",
    [entry for entry in entries() if entry.rule.by != "S" and entry.rule.refutable],
    ids=lambda entry: entry.folder.name,
)
SCRIPTS = pytest.mark.parametrize("script", ("bad.py", "good.py"))


def checked(*files: Path) -> Analysis:
    return analyse([Source(str(file)) for file in files], concerns=target_near(files[0].parent).concerns)


def test_codes_are_unique() -> None:
    codes = [entry.code for entry in entries()]
    assert len(codes) == len(set(codes))
    assert all(re.fullmatch(r"TL\d{3}", code) for code in codes)


@RULES
def test_page_has_what_a_reader_needs(entry: Entry) -> None:
    assert entry.page.startswith(f"# {entry.code} {entry.name}\n\n")
    sections = re.findall(r"^## (.*)$", entry.page, re.MULTILINE)
    if entry.fix is not None:
        assert sections.pop(sections.index("Instead") + 1) == FIX, "a rule with a fix says what it does"
    assert tuple(sections) == SECTIONS
    found = [block for block in blocks() if block.entry is entry]
    for section in ("Example", "Instead", "When it stays silent", "Known misses"):
        assert any(block.section == section for block in found), f"no Python example under {section!r}"
    for block in found:
        marked = any(page_marks(block.text, entry.code))
        assert marked == (block.section == "Example") or block.section == FIX, block
        assert (block.section == "Known misses") == bool(TODO.search(block.text)), block


@BLOCKS
def test_page_example(block: Block, tmp_path: Path) -> None:
    marked: dict[Path, list[Mark]] = {}
    for name, text in block.files():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        marked[file] = list(page_marks(text, block.entry.code))
    findings = (
        _of_run(tmp_path, block.entry.rule.steps)
        if block.entry.rule.by == "T"
        else checked(*sorted(tmp_path.rglob("*.py"))).findings
    )
    found = {(Path(one.at.path), one.at.line) for one in findings if one.code == block.entry.code}
    assert found == {(file, mark.line) for file, here in marked.items() for mark in here}
    for file, here in marked.items():
        assert misfits(here, (one for one in findings if Path(one.at.path) == file)) == []


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
    bad = checked(entry.folder / "bad.py")
    assert not bad.problems
    if entry.rule.by != "T":
        assert entry.rule.level in {one.level for one in bad.findings if one.code == entry.code}
    good = checked(entry.folder / "good.py")
    assert not good.problems
    assert [one for one in good.findings if one.level != "info" or one.code == entry.code] == []


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    scripts = Runner()
    yield scripts
    scripts.close()


@RULES
@SCRIPTS
def test_script_runs_and_shows_the_symptom(entry: Entry, script: str, runner: Runner) -> None:
    _skip_without_frameworks(entry.folder / script)
    ran = runner.run(entry.folder / script)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.strip()


def _skip_without_frameworks(script: Path) -> None:
    """Skip what imports a framework that only the extra `dev-frameworks` installs."""
    for name in FRAMEWORKS:
        imported = re.search(rf"^(?:from|import) {name}\b", script.read_text(encoding="utf-8"), re.MULTILINE)
        if imported and importlib.util.find_spec(name) is None:
            pytest.skip(f"{name} is not installed: pip install -e '.[dev-frameworks]'")


@FIXED
def test_page_shows_what_the_fix_does(entry: Entry) -> None:
    found = [block for block in blocks() if block.entry is entry]
    examples = [_fixed(entry, block) for block in found if block.section == "Example"]
    for block in found:
        if block.section == FIX:
            assert {name: unmarked(text) for name, text in block.files()} in examples
    assert any(block.section == FIX for block in found)


def _fixed(entry: Entry, block: Block) -> dict[str, str]:
    """An example as its rule's fixes leave it."""
    files = {name: unmarked(text) for name, text in block.files()}
    result = fixed(_check_for(entry, files), unsafe=True, writes=False)
    assert not result.report.problems
    return {name: result.texts.raw(name).decode() for name in files}


def _check_for(entry: Entry | None, files: Mapping[str, str]) -> Check:
    """Checks files for one rule, or for all."""

    def check(texts: Mapping[str, bytes]) -> tuple[Report, SourceTexts]:
        given = {name: text.encode() for name, text in files.items()} | dict(texts)
        found = analyse([Source(name, given[name]) for name in files])
        wanted = tuple(one for one in found.findings if entry is None or one.code == entry.code)
        return Report(wanted, found.problems, len(files), 0.0), SourceTexts(given)

    return check


@FIXED
def test_bad_can_be_fixed(entry: Entry, tmp_path: Path, runner: Runner) -> None:
    files = {"bad.py": (entry.folder / "bad.py").read_text(encoding="utf-8")}
    before, _ = _check_for(None, files)({})
    result = fixed(_check_for(entry, files), unsafe=True, writes=False)
    assert result.files["bad.py"].counts[entry.code]
    assert (result.report.findings, result.report.problems) == ((), ())
    script = tmp_path / "bad.py"
    script.write_bytes(result.files["bad.py"].after)
    after, _ = _check_for(None, {"bad.py": script.read_text(encoding="utf-8")})({})
    assert Counter(one.code for one in after.findings) <= Counter(one.code for one in before.findings)
    _skip_without_frameworks(script)
    ran = runner.run(script)
    assert ran.returncode == 0, ran.stderr
