"""What the README and the pages beside it say is true."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import textwrap
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import typer

from tests.warm import executable
from trainlint.catalogue import described, names, symptoms
from trainlint.cli.app import app
from trainlint.project.config import Config, read_config

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
WRITING_RULES = (ROOT / "docs/writing-rules.md").read_text(encoding="utf-8")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]

LINK = re.compile(r"\]\((?!https?://)([^)#]+)")
FENCE = re.compile(r"^(`{3,})\w*\n# file: (\S+)\n(.*?)^\1$", re.MULTILINE | re.DOTALL)
RULE = "tl998_dropout_drops_everything"


def page(name: str) -> str:
    return (ROOT / f"docs/{name}.md").read_text(encoding="utf-8")


def python(*arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*executable(), *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(cwd)},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )


def test_first_finding_is_what_is_printed() -> None:
    ran = python("-m", "trainlint", "check", "--no-cache", "fixtures/first_look")
    assert f"$ trainlint check fixtures/first_look\n{ran.stdout}```" in README


def test_readme_is_short_and_leads_to_every_page() -> None:
    assert README.count("\n") <= 150
    linked = set(re.findall(r"\]\(docs/([^)#]+)", README))
    assert linked == {page.name for page in PAGES[1:]}


def test_table_of_rules_has_all_of_them() -> None:
    ran = python("docs/table.py")
    assert re.findall(r"^\| \[(TL\d+)\]", ran.stdout, re.MULTILINE) == list(names()), ran.stderr


def test_symptoms_lead_to_every_rule_that_is_on() -> None:
    on = {rule.code for rule in described() if rule.level != "info" and rule.code != "TL000"}
    assert {code for code in names() if symptoms(code)} == on
    table = python("docs/table.py", "symptoms").stdout
    for code in on:
        for seen in symptoms(code):
            [row] = [
                line
                for line in table.splitlines()
                if line.startswith(f"| {seen.replace('|', chr(92) + '|')} |")
            ]
            assert f"[{code}](rules/{code.lower()}.md)" in row


def test_commands_and_options_exist() -> None:
    commands = getattr(typer.main.get_command(app), "commands", {})
    check, run = page("check"), page("run")
    blocks = "\n".join(re.findall(r"```sh\n(.*?)```", check, re.DOTALL))
    assert set(re.findall(r"^trainlint ([\w-]+)", blocks, re.MULTILINE)) == set(commands)
    options = _long(commands["check"])
    table = check.partition("| option of `check` | |")[2].partition("\n\n")[0]
    assert set(re.findall(r"--[a-z][a-z-]*", table)) == options
    watched = run.partition("| option of `run`, before the script | |")[2].partition("\n\n")[0]
    assert _long(commands["run"]) - options == {"--trace", *re.findall(r"--[a-z][a-z-]*", watched)}


def _long(command: Any) -> set[str]:
    """The long options of a command."""
    names = [name for option in command.params for name in (*option.opts, *option.secondary_opts)]
    return {name for name in names if name.startswith("--")}


def test_configuration_shown_is_read_and_names_every_key(tmp_path: Path) -> None:
    shown = page("configuration").partition("```toml\n")[2].partition("```")[0]
    block = re.sub(r"^# (?=[a-z-]+ = )", "", shown, flags=re.MULTILINE)
    file = tmp_path / "pyproject.toml"
    file.write_text(block, encoding="utf-8")
    assert read_config(file).jobs == 4
    keys = {one.name.replace("_", "-") for one in fields(Config)} - {"root", "file", "given"}
    assert keys == set(re.findall(r"^(?:\[tool\.trainlint\.)?([a-z-]+)(?: =|\])", block, re.MULTILINE))


@pytest.mark.parametrize("file", PAGES, ids=lambda file: file.name)
def test_links_lead_somewhere(file: Path) -> None:
    broken = [
        link for link in LINK.findall(file.read_text(encoding="utf-8")) if not (file.parent / link).exists()
    ]
    assert broken == []


def test_what_the_guide_shows_of_a_rule_is_in_it() -> None:
    shown = re.findall(r"^( *)```python\n((?!# file: ).*?)^\1```$", WRITING_RULES, re.MULTILINE | re.DOTALL)
    (opening,) = (textwrap.dedent(text) for _, text in shown if "isinstance(cleared, Open)" in text)
    written = (ROOT / "rules/tl301_missing_zero_grad/rule.py").read_text(encoding="utf-8")
    indent = re.search(r"^ *(?=cleared = )", written, re.MULTILINE)
    assert indent is not None
    assert textwrap.indent(opening, indent[0]) in written


def test_the_rule_that_the_guide_writes_works(tmp_path: Path) -> None:
    for folder in ("trainlint", "rules"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "tests").mkdir()
    for name in ("test_rules.py", "in_process.py", "warm.py", "warm_process.py", "warm_python.py"):
        shutil.copy(ROOT / "tests" / name, tmp_path / "tests")
    for _, name, text in FENCE.findall(WRITING_RULES):
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    code = RULE.partition("_")[0]
    ran = python("-m", "pytest", "-q", "tests/test_rules.py", "-k", f"{code} or {code.upper()}", cwd=tmp_path)
    assert "8 passed" in ran.stdout, ran.stdout + ran.stderr
    assert python("-m", "trainlint", "explain", "dropout-drops-everything", cwd=tmp_path).stdout.startswith(
        "# TL998 "
    )
