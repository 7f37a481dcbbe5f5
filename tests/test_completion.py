"""What real shells complete."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pytest

from tests.warm import executable
from trainlint.catalogue import names
from trainlint.cli.completion import rules, rules_listed

ROOT = Path(__file__).parent.parent


@pytest.fixture
def surroundings(tmp_path: Path) -> Iterator[dict[str, str]]:
    """A home of its own, with `trainlint` on the PATH."""
    program = tmp_path / "bin/trainlint"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.join(executable())} -m trainlint "$@"\n')
    program.chmod(0o755)
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    yield {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), "HOME": str(tmp_path), "TERM": "dumb"}


def shell(name: str, script: str, env: dict[str, str], *options: str) -> str:
    if shutil.which(name) is None:
        pytest.skip(f"there is no {name} here")
    ran = subprocess.run(
        [name, *options, "-c", script], env=env, capture_output=True, text=True, check=False, timeout=120
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def bash(line: str, env: dict[str, str]) -> list[str]:
    """What bash offers at the end of a line."""
    words = line.split(" ")
    script = f"""
        eval "$(_TRAINLINT_COMPLETE=source_bash trainlint)"
        COMP_WORDS=({" ".join(f"'{word}'" for word in words)}) COMP_CWORD={len(words) - 1}
        "$(complete -p trainlint | sed 's/.*-F \\([^ ]*\\) .*/\\1/')" trainlint
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    return shell("bash", script, env, "--norc").split()


def zsh(line: str, env: dict[str, str]) -> list[str]:
    """What zsh is handed: a list of words with what they mean."""
    words = line.split(" ")
    script = f"""
        autoload -Uz compinit && compinit -u -d "$HOME/.zcompdump"
        eval "$(_TRAINLINT_COMPLETE=source_zsh trainlint)"
        _arguments() {{ print -r -- "$@" }}
        words=({" ".join(f"'{word}'" for word in words)}) CURRENT={len(words)}
        $_comps[trainlint]
    """
    return re.findall(r'(?:\(\(|\s)"([^"]*)"', shell("zsh", script, env, "-f"))


def fish(line: str, env: dict[str, str]) -> list[str]:
    script = f"_TRAINLINT_COMPLETE=source_fish trainlint | source; complete -C '{line}'"
    return [one.split("\t")[0] for one in shell("fish", script, env, "--no-config").splitlines()]


SHELLS = pytest.mark.parametrize("complete", [bash, zsh, fish])


@SHELLS
@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("trainlint exp", {"explain"}),
        ("trainlint c", {"check", "clean", "compare", "config"}),
        ("trainlint explain TL30", {code for code in names() if code.startswith("TL30")}),
        ("trainlint explain missing-z", {"missing-zero-grad"}),
        ("trainlint check --select TL101,TL31", {f"TL101,{c}" for c in names() if c.startswith("TL31")}),
        ("trainlint check --ignore softmax-before-c", {"softmax-before-cross-entropy"}),
        ("trainlint check --output-format g", {"github", "gitlab"}),
        ("trainlint check --min-level e", {"error"}),
        ("trainlint check --write-b", {"--write-baseline"}),
    ],
)
def test_what_is_completed(
    complete: object, line: str, offered: set[str], surroundings: dict[str, str]
) -> None:
    assert callable(complete)
    said = complete(line, surroundings)
    assert set(said) == offered


@SHELLS
def test_installing_it(complete: object, surroundings: dict[str, str]) -> None:
    name = complete.__name__  # type: ignore[attr-defined]
    if shutil.which(name) is None:
        pytest.skip(f"there is no {name} here")
    ran = subprocess.run(
        ["trainlint", "--install-completion", name],
        env=surroundings,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, ""), ran.stderr
    home = Path(surroundings["HOME"])
    assert any(
        "trainlint" in file.read_text()
        for file in home.rglob("*trainlint*")
        if file.is_file() and file.parent.name != "bin"
    )


@pytest.mark.parametrize(("name", "options"), [("bash", ["--norc", "-i"]), ("zsh", ["-f", "-i"])])
def test_a_tab_at_a_prompt(name: str, options: list[str], surroundings: dict[str, str]) -> None:
    if shutil.which(name) is None:
        pytest.skip(f"there is no {name} here")
    begin = "autoload -Uz compinit && compinit -u; " if name == "zsh" else ""
    prompt = pexpect.spawn(name, options, env=surroundings, encoding="utf-8", timeout=60)
    try:
        prompt.sendline(f'{begin}eval "$(trainlint --show-completion {name})"; echo RE""ADY')
        prompt.expect("READY")
        prompt.send("trainlint exp\t")
        prompt.expect("trainlint explain")
        prompt.send("missing-z\t")
        prompt.expect("missing-zero-grad")
    finally:
        prompt.close(force=True)


def test_rules() -> None:
    assert ("TL301", "missing-zero-grad") in list(rules("tl3"))
    assert ("missing-zero-grad", "TL301") in list(rules("missing"))
    assert [code for code, _ in rules("")] == list(names())
    assert list(rules("nonsense")) == []
    assert ("TL101,ALL", "every rule") in list(rules_listed("TL101,A"))
