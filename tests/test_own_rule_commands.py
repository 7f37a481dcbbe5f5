"""`trainlint new-rule` and `trainlint test-rules`, and the guide that leads from nothing to a green rule."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from tests.own import FILES, PAGE
from tests.warm import ROOT, python, ran_instead
from trainlint.cli.app import app
from trainlint.errors import UsageError
from trainlint.rule_tests import running
from trainlint.rule_tests.running import wrong_with_runs, wrong_with_scripts
from trainlint.rules import Entry, bring, entries

if TYPE_CHECKING:
    from typer.testing import Result

    from tests.conftest import Project

GUIDE = (ROOT / "docs/own-rules.md").read_text(encoding="utf-8").partition("## Where they come from")[0]
STEP = re.compile(r"^(`{3,})(?P<kind>\w+)\n(?P<text>.*?)^\1$", re.MULTILINE | re.DOTALL)
HERE = "lint/acme101_full_dropout"


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    yield
    bring(())


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a command of this process starts is started as what tests start."""
    started = SimpleNamespace(run=ran_instead, TimeoutExpired=subprocess.TimeoutExpired)
    monkeypatch.setattr(running, "subprocess", started)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


def changed(project: Project, file: str, old: str, new: str) -> None:
    text = Path(file).read_text(encoding="utf-8")
    assert old in text
    project({file: text.replace(old, new, 1)})


def test_the_guide_leads_from_nothing_to_a_green_rule(tmp_path: Path) -> None:
    ran = 0
    for step in STEP.finditer(GUIDE):
        first, _, rest = step["text"].partition("\n")
        if step["kind"] == "console":
            for command in re.split(r"^\$ trainlint ", step["text"], flags=re.MULTILINE)[1:]:
                arguments, _, shown = command.partition("\n")
                said = python(["-m", "trainlint", *arguments.split()], tmp_path)
                assert not shown or said.stdout == shown, said.stdout + said.stderr
                ran += 1
        elif made := re.fullmatch(r"# file: (.*)", first):
            (tmp_path / made[1]).write_text(rest)
        else:
            way = re.fullmatch(r"# in: (\S+), (before|instead of): (.*)", first)
            assert way is not None, first
            text = (tmp_path / way[1]).read_text()
            assert text.count(way[3]) == 1
            new = rest + way[3] if way[2] == "before" else rest.strip()
            (tmp_path / way[1]).write_text(text.replace(way[3], new))
    assert ran == 5


@pytest.mark.parametrize(
    ("code", "name", "said"),
    [
        ("TL101", "mine", "`tl101` cannot be a code"),
        ("ACME1", "mine", "`acme1` cannot be a code"),
        ("A101", "mine", "`a101` cannot be a code"),
        ("ACME102", "../mine", "cannot be a name"),
        ("ACME102", "missing-zero-grad", "there is a rule TL301 missing-zero-grad already"),
        ("ACME102", "full_dropout", "there is a rule ACME101 full-dropout already"),
        ("acme101", "mine", "there is a rule ACME101 full-dropout already"),
    ],
)
def test_codes_and_names_that_cannot_be(project: Project, code: str, name: str, said: str) -> None:
    root = project(FILES)
    before = sorted(root.rglob("*"))
    ran = run("new-rule", code, name)
    assert ran.exit_code == 2
    assert said in ran.stderr
    assert sorted(root.rglob("*")) == before


def test_the_first_rule_of_a_folder_that_is_named_already(project: Project) -> None:
    project({"trainlint.toml": 'rule-paths = ["mine"]\n'})
    assert run("new-rule", "TLX101", "full-dropout", "--folder", "mine").exit_code == 0
    assert run("test-rules", "--no-run").stdout == "TLX101 full-dropout: all is well\n"
    assert Path("mine/tlx101_full_dropout/README.md").read_text().startswith("# TLX101 full-dropout\n")


def test_a_new_rule_is_there_as_a_whole_or_not_at_all(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = project({})

    def full(path: Path, text: str) -> None:
        if path.name == "good.py":
            raise UsageError(f"{path}: cannot be written: No space left on device")
        path.write_text(text)

    with monkeypatch.context() as patch:
        patch.setattr("trainlint.rule_tests.new.write_file", full)
        assert run("new-rule", "ACME101", "full-dropout").exit_code == 2
    assert [*(root / "lint").iterdir()] == []
    assert run("new-rule", "ACME101", "full-dropout").exit_code == 0


@pytest.fixture
def made(project: Project) -> Project:
    project({"trainlint.toml": 'rule-paths = ["lint"]\n'})
    assert run("new-rule", "ACME101", "full-dropout").exit_code == 0
    return project


def outcome() -> str:
    ran = run("test-rules", "--no-run")
    assert ran.exit_code == (0 if ran.stdout.endswith(": all is well\n") else 1)
    return ran.stdout


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("README.md", "# ACME101 full-dropout", "# ACME102 full-dropout", "does not begin with `# ACME101 full-dropout`"),
        ("README.md", "## Known misses", "## Misses", "the sections of the page are not Why is this bad?, Example"),
        ("README.md", "  # error", "", "no line is marked `# error` under `Example`"),
        ("README.md", "  # error", "", "`nn.Dropout(1.0),` is found, and not marked"),
        ("README.md", "  # error", "  # error[info]", "line 6 is found otherwise than marked"),
        ("README.md", "  # todo: no error", "", "`# todo: no error` marks a known miss, and each known miss"),
        ("README.md", "nn.Dropout(0.1)", "nn.Dropout(1.0)", "under `Instead`: `model = nn.Sequential"),
        ("rule.py", "== 1:", "== 2:", "bad.py: there is no finding of ACME101 of level warning"),
        ("rule.py", "== 1:", "is not None:", "good.py:9: ACME101: `p` is the probability"),
        ("good.py", "0.1", "0.1))(", "good.py: "),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_rule_is_said(made: Project, file: str, old: str, new: str, said: str) -> None:
    assert outcome() == "ACME101 full-dropout: all is well\n"
    changed(made, f"{HERE}/{file}", old, new)
    assert said in outcome()


FIX = """\
from collections.abc import Iterator

from trainlint.finding import Finding
from trainlint.fix import Proposal, Rewrite, unsafe


def fix(finding: Finding) -> Iterator[Proposal]:
    yield unsafe("Drop a tenth", Rewrite(finding.at, (("torch.nn.Dropout(1.0)", "torch.nn.Dropout(0.1)"),)))
"""


def test_a_fix_is_tested_with_its_section(made: Project) -> None:
    page = Path(f"{HERE}/README.md").read_text()
    example = page.partition("## Example\n")[2].partition("## Instead")[0].replace("  # error", "")
    made({f"{HERE}/fix.py": FIX})
    assert "there is no Python example under `Fix`" in outcome()
    shown = f"## Fix\n{example}## When it stays silent"
    made({f"{HERE}/README.md": page.replace("## When it stays silent", shown)})
    assert "this is no example of the page as it is fixed" in outcome()
    made({f"{HERE}/README.md": page.replace("## When it stays silent", shown.replace("1.0", "0.1"))})
    said = outcome()
    if "all is well" not in said:
        raise AssertionError(said)
    made({f"{HERE}/fix.py": FIX.replace('"torch.nn.Dropout(0.1)"', '"torch.nn.Dropout(1)"')})
    assert "bad.py: after the fix: `p` is the probability" in outcome()


def test_files_that_are_missing(project: Project) -> None:
    project(FILES)
    assert "  there is no bad.py, no good.py\n" in outcome()
    assert PAGE


def test_one_of_several_rules(made: Project) -> None:
    assert run("new-rule", "ACME102", "other").exit_code == 0
    assert run("test-rules", "--no-run", "lint/acme102_other").stdout == "ACME102 other: all is well\n"
    assert run("test-rules", "--no-run").stdout.count("all is well") == 2
    nothing = run("test-rules", "--no-run", ".")
    assert (nothing.exit_code, "there is no rule here" in nothing.stderr) == (2, True)


def of_here() -> Entry:
    ran = run("rules", "--own-rules")
    assert ran.exit_code == 0
    return next(one for one in entries() if one.code == "ACME101")


def test_programs_of_a_rule_are_run(made: Project) -> None:
    made({f"{HERE}/bad.py": "print(1)\n", f"{HERE}/good.py": "pass\n"})
    assert list(wrong_with_scripts(of_here())) == [
        "good.py: prints nothing that shows the harm, or that there is none"
    ]
    made({f"{HERE}/bad.py": "raise KeyError('x')\n", f"{HERE}/good.py": "print(1)\n"})
    assert list(wrong_with_scripts(of_here())) == ["bad.py: fails when it is run: KeyError: 'x'"]


def test_a_rule_that_says_that_a_run_shows_it(made: Project) -> None:
    assert list(wrong_with_runs(of_here())) == []
    changed(made, f"{HERE}/rule.py", ', by="S"', "")
    assert list(wrong_with_runs(of_here())) == [
        'bad.py: a run does not show it; a rule that only judges source says `by="S"`'
    ]
