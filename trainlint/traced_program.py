"""A program that runs in a process of its own and is recorded there. Needs no torch here."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from trainlint.facts.recorded import Recorded
from trainlint.trace_file import NotATrace, load

_CHILD = Path(__file__).parent / "trace" / "child.py"
_POLL = 0.05
_GRACE = 10.0
"""Seconds that a program has to end after it was told to."""


@dataclass(frozen=True)
class Program:
    """What to run: a script by its path or a module by its name, and what it is given."""

    kind: Literal["script", "module"]
    target: str
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """How a program's recording ended.

    Args:
        recorded: what was recorded; None if there is nothing at all.
        message: where there is nothing, why.
        code: the program's exit code.
        timed_out: whether it was ended because it took too long.
    """

    recorded: Recorded | None
    message: str
    code: int
    timed_out: bool = False


def run_traced(
    program: Program,
    *,
    steps: int,
    max_wait: int,
    timeout: float | None,
    waiting: Callable[[str], None],
) -> Outcome:
    """Run a program until its recording ends. Its streams are the ones of this process.

    Args:
        timeout: seconds.
        waiting: told what the recording waits for, whenever that changes.
    """
    with tempfile.TemporaryDirectory(prefix="trainlint-") as folder:
        outcome, status = Path(folder) / "outcome.trace", Path(folder) / "status"
        command = [
            sys.executable,
            *subprocess._args_from_interpreter_flags(),  # type: ignore[attr-defined]
            str(_CHILD),
            str(outcome),
            str(status),
            str(steps),
            str(max_wait),
            program.kind,
            program.target,
            *program.arguments,
        ]
        child = subprocess.Popen(command)
        with _signals_go_to(child):
            timed_out = _wait(child, outcome, status, timeout, waiting)
        return _outcome(outcome, child.returncode, timed_out)


def _wait(
    child: subprocess.Popen[bytes],
    outcome: Path,
    status: Path,
    timeout: float | None,
    waiting: Callable[[str], None],
) -> bool:
    """Wait for the program; end it where it takes too long, or where it does not end after its recording."""
    began = time.monotonic()
    recorded_at: float | None = None
    told = ""
    while child.poll() is None:
        time.sleep(_POLL)
        now = time.monotonic()
        try:
            text = status.read_text()
        except OSError:
            text = told
        if text != told and text:
            told = text
            waiting(text)
        if recorded_at is None and outcome.exists():
            recorded_at = now
        if recorded_at is not None and now - recorded_at > _GRACE:
            _end(child, signal.SIGTERM)
        elif timeout is not None and recorded_at is None and now - began > timeout:
            _end(child, signal.SIGINT)
            return True
    return False


def _end(child: subprocess.Popen[bytes], number: signal.Signals) -> None:
    child.send_signal(number)
    try:
        child.wait(_GRACE)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


@contextmanager
def _signals_go_to(child: subprocess.Popen[bytes]) -> Iterator[None]:
    """Ctrl-C reaches the program by itself, from the terminal; other signals are passed on."""
    kept = {
        signal.SIGINT: signal.signal(signal.SIGINT, signal.SIG_IGN),
        signal.SIGTERM: signal.signal(signal.SIGTERM, lambda number, _: child.send_signal(number)),
    }
    try:
        yield
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)


def _outcome(file: Path, code: int, timed_out: bool) -> Outcome:
    if file.exists():
        try:
            return Outcome(load(file), "", code, timed_out)
        except (NotATrace, OSError) as error:
            return Outcome(None, f"the recording cannot be read: {error}", code, timed_out)
    refused = file.with_suffix(".refused")
    if refused.exists():
        return Outcome(None, refused.read_text(), code, timed_out)
    nothing = file.with_suffix(".none")
    if nothing.exists():
        how, raised, children = [*nothing.read_text().split("\n"), "", ""][:3]
        reason = f" ({raised})" if raised else ""
        others = f", though it started {children} other processes" if children not in ("", "0") else ""
        ended = "failed" if how == "failed" else "ended"
        return Outcome(None, f"the program {ended} before it imported torch{reason}{others}", code, timed_out)
    if timed_out:
        return Outcome(None, "the program took too long and left nothing behind", code, True)
    if code < 0:
        name = signal.Signals(-code).name
        return Outcome(None, f"the program was killed by {name} before anything was recorded", code)
    return Outcome(None, f"the program ended with exit code {code} and left no recording", code)


def folder_of(program: Program) -> Path:
    """Where a program's configuration is looked for."""
    return Path(os.path.dirname(os.path.abspath(program.target))) if program.kind == "script" else Path.cwd()
