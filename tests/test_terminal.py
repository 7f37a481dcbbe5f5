"""Terminals, pipes and pagers, as programs that really are such.

Each command is a process of its own: a fork of the warm one may still write when the terminal is gone.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import types
from collections.abc import Mapping
from pathlib import Path

import pexpect
import pytest

from trainlint.output.printable import width

ROOT = Path(__file__).parent.parent
FIRST_LOOK = ROOT / "fixtures/first_look"
CHECK = ["-m", "trainlint", "check", "--no-cache", "."]
COLOUR = re.compile(r"\x1b\[[\d;]*m|\x1b\]8;;[^\x1b]*\x1b\\")


def surroundings(**more: str) -> dict[str, str]:
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in ("NO_COLOR", "FORCE_COLOR", "FORCE_HYPERLINK", "COLUMNS", "LINES", "TERM")
    }
    return {**kept, "PYTHONPATH": str(ROOT), "TERM": "xterm", **more}


def on_a_terminal(columns: int = 80, variables: Mapping[str, str] = types.MappingProxyType({})) -> str:
    shown = pexpect.spawn(
        "sh",
        ["-c", f"{sys.executable} {' '.join(CHECK)} 2>/dev/null"],  # a bar is there where it takes long
        cwd=FIRST_LOOK,
        env=surroundings(**variables),
        dimensions=(24, columns),
        encoding="utf-8",
        timeout=120,
    )
    text = shown.read()
    shown.close()
    assert shown.exitstatus == 1
    return str(text)


def in_a_pipe(**more: str) -> str:
    ran = subprocess.run(
        [sys.executable, *CHECK],
        cwd=FIRST_LOOK,
        env=surroundings(**more),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (1, "")
    return ran.stdout


@pytest.mark.parametrize(
    ("terminal", "variables", "coloured"),
    [
        (True, {}, True),
        (True, {"NO_COLOR": "1"}, False),
        (True, {"NO_COLOR": ""}, True),
        (True, {"TERM": "dumb"}, False),
        (True, {"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
        (False, {}, False),
        (False, {"FORCE_COLOR": "1"}, True),
        (False, {"FORCE_COLOR": "0"}, False),
    ],
)
def test_colour(terminal: bool, variables: Mapping[str, str], coloured: bool) -> None:
    text = on_a_terminal(variables=variables) if terminal else in_a_pipe(**variables)
    assert "softmax-before-cross-entropy" in text
    assert bool(COLOUR.search(text)) is coloured
    assert "\x1b" not in COLOUR.sub("", text)


def test_colour_changes_no_word() -> None:
    assert COLOUR.sub("", on_a_terminal()).replace("\r\n", "\n") == in_a_pipe(COLUMNS="80")


@pytest.mark.parametrize("columns", [40, 60, 200])
def test_source_fits_the_terminal(columns: int) -> None:
    lines = COLOUR.sub("", on_a_terminal(columns)).splitlines()
    source = [line for line in lines if re.match(r" *\d* \| ", line) and "^" not in line and "--" not in line]
    assert len(source) >= 4
    assert all(sum(map(width, line)) <= columns for line in source)


@pytest.mark.skipif(shutil.which("less") is None, reason="there is no less here")
def test_less_shows_the_colours() -> None:
    command = f"FORCE_COLOR=1 {sys.executable} {' '.join(CHECK)} | less -R"
    pager = pexpect.spawn(
        "sh",
        ["-c", command],
        cwd=FIRST_LOOK,
        env=surroundings(LESS=""),
        dimensions=(60, 100),
        encoding="utf-8",
        timeout=120,
    )
    pager.expect("Found 2 errors")
    shown = str(pager.before)
    assert "\x1b[31m" in shown
    assert "ESC" not in shown
    pager.send("q")
    pager.expect(pexpect.EOF)


def test_a_pager_that_is_left_early() -> None:
    command = f"{sys.executable} {' '.join(CHECK)} 2>err.txt | head -n 1"
    ran = subprocess.run(
        ["sh", "-c", command.replace("err.txt", "/dev/stderr")],
        cwd=FIRST_LOOK,
        env=surroundings(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.stdout.startswith("error[TL301]")
    assert ran.stderr == ""


def shown_help(*arguments: str, columns: int = 80) -> str:
    ran = subprocess.run(
        [sys.executable, "-m", "trainlint", *arguments, "--help"],
        env=surroundings(COLUMNS=str(columns)),
        capture_output=True,
        text=True,
        check=True,
    )
    return ran.stdout


COMMANDS = [
    [],
    ["check"],
    ["run"],
    ["explain"],
    ["rules"],
    ["config"],
    ["doctor"],
    ["new-rule"],
    ["test-rules"],
    ["clean"],
]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_fits_a_terminal(command: list[str]) -> None:
    assert max(map(len, shown_help(*command).splitlines())) <= 80


def ours(example: str) -> str:
    """What of a line is for trainlint: no other command beside it, and no option of a script."""
    [command] = [part.strip() for part in example.split("|") if part.strip().startswith("trainlint")]
    return command.partition(" train.py")[0]


@pytest.mark.parametrize("command", COMMANDS[:-1])
def test_help_teaches_by_examples_that_are_commands(command: list[str]) -> None:
    lines = [line.strip() for line in shown_help(*command).partition("Examples:\n")[2].splitlines()]
    examples = [ours(line) for line in lines if line and not line.startswith("#")]
    assert len(examples) >= 2
    assert len(lines) == 2 * len(examples)
    for example in examples:
        name, _, rest = example.partition(" ")
        assert name == "trainlint"
        subcommand = rest.split()[0]
        known = set(re.findall(r"--[a-z-]+", shown_help(subcommand)))
        assert set(re.findall(r"--[a-z-]+", rest)) <= known


@pytest.mark.skipif(shutil.which("less") is None, reason="there is no less here")
@pytest.mark.parametrize(
    ("variables", "rows", "paged"),
    [({}, 24, True), ({}, 400, False), ({"PAGER": ""}, 24, False), ({"PAGER": "no-such-pager"}, 24, False)],
)
def test_explain_uses_a_pager_where_the_page_is_longer_than_the_terminal(
    variables: Mapping[str, str], rows: int, paged: bool
) -> None:
    shown = pexpect.spawn(
        sys.executable,
        ["-m", "trainlint", "explain", "TL301"],
        cwd=FIRST_LOOK,
        env=surroundings(**variables),
        dimensions=(rows, 80),
        encoding="utf-8",
        timeout=120,
    )
    shown.expect("TL301 missing-zero-grad")
    if paged:
        shown.expect("\r:|\x1b\\[K")
        shown.send("q")
    shown.expect(pexpect.EOF)
    shown.close()
    assert shown.exitstatus == 0
    if not paged:
        assert "When it stays silent" in str(shown.before)
