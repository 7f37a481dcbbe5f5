"""A rule's programs, run: that they end, and what a recorded step of them shows."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from trainlint.check.analysis import Source, analyse
from trainlint.check.verdict import joined
from trainlint.facts.trace_file import NotATrace, load
from trainlint.finding import Finding, Problem
from trainlint.judging import judged
from trainlint.rule_tests.asking import written, wrong_with_example
from trainlint.rule_tests.pages import Block
from trainlint.rules import Entry

_SECONDS = 120
_MANY_STEPS = 40
"""Steps to record where the first does not show it."""


class NotRecorded(Exception):
    """A program of which there is no recording; its text says why."""


def wrong_with_scripts(entry: Entry) -> Iterator[str]:
    """Whether both programs end well and print a symptom."""
    for name in ("bad.py", "good.py"):
        try:
            ran = subprocess.run(
                [sys.executable, name],
                cwd=entry.folder,
                capture_output=True,
                text=True,
                timeout=_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            yield f"{name}: does not end within {_SECONDS} seconds"
            continue
        if ran.returncode:
            yield f"{name}: fails when it is run: {ran.stderr.strip().rpartition(chr(10))[2]}"
        elif not ran.stdout.strip():
            yield f"{name}: prints nothing that shows the harm, or that there is none"


def wrong_with_runs(entry: Entry) -> Iterator[str]:
    """Whether the run of `bad.py` shows it, and the run of `good.py` does not."""
    if entry.rule.by == "S" or not entry.rule.refutable:
        return
    try:
        if not (_shown(entry, "bad.py", 1) or _shown(entry, "bad.py", _MANY_STEPS)):
            yield 'bad.py: a run does not show it; a rule that only judges source says `by="S"`'
        for one in _shown(entry, "good.py", 1):
            yield f"good.py:{one.at.line}: a run shows {one.code}: {one.message}"
    except NotRecorded as error:
        yield str(error)


def wrong_with_recorded_example(block: Block, folder: Path) -> Iterator[str]:
    """What a run of an example shows otherwise than it is marked."""
    marked = written(block, folder)
    script = folder / "train.py" if (folder / "train.py").exists() else folder / "page.py"
    try:
        found = findings_of_run(script, block.entry.rule.steps)
    except NotRecorded as error:
        yield f"README.md:{block.line}: {error}"
        return
    there = [replace(one, at=one.at._replace(path=str(folder / one.at.path))) for one in found]
    yield from wrong_with_example(block, marked, there)


def _shown(entry: Entry, script: str, steps: int) -> list[Finding]:
    found = findings_of_run(entry.folder / script, steps)
    return [one for one in found if one.code == entry.code and one.verdict in ("confirmed", "observed")]


def findings_of_run(script: Path, steps: int) -> list[Finding]:
    """What the source and one run of it together say, with verdicts. Raises NotRecorded."""
    with tempfile.TemporaryDirectory(prefix="trainlint-") as scratch, _inside(script.parent):
        trace, settings = Path(scratch) / "trace.json", Path(scratch) / "trainlint.toml"
        settings.touch()
        command = [
            sys.executable,
            "-m",
            "trainlint",
            "run",
            "--config",
            str(settings),
            "--no-cache",
            "--exit-zero",
        ]
        ran = subprocess.run(
            [
                *command,
                "--steps",
                str(steps),
                "--timeout",
                str(_SECONDS),
                "--save-trace",
                str(trace),
                script.name,
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        try:
            recorded = load(trace)
        except (OSError, NotATrace) as error:
            said = ran.stderr.strip().rpartition("\n")[2]
            raise NotRecorded(f"{script.name}: nothing could be recorded: {said or error}") from error
        problems: dict[Problem, None] = {}
        ran_so = judged(recorded, problems)
        if problems:
            raise NotRecorded(f"{script.name}: {next(iter(problems)).message}")
        files = sorted({path for path, _ in recorded.lines if os.path.isfile(path)} | {script.name})
        return joined(analyse([Source(path) for path in files]).findings, ran_so, recorded)


@contextmanager
def _inside(folder: Path) -> Iterator[None]:
    """In a folder, as paths of a recording are seen from there."""
    before = os.getcwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
