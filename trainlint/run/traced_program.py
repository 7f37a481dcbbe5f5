"""A program that runs in a process of its own and is recorded there. Needs no torch here."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from trainlint.facts.model.recorded import Recorded
from trainlint.facts.trace_file import NotATrace, load
from trainlint.run.started import those_that_train
from trainlint.trace.launch.stop import ENDS

_CHILD = Path(__file__).parents[1] / "trace" / "launch" / "child.py"
_POLL = 0.05
_GRACE = 10.0
_PASSED_ON = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
"""Seconds that a program has to end after it was told to by a signal."""
_PATIENCE = 60.0
"""Seconds that a program has to tidy up once enough is recorded."""


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
        others: what was recorded in other processes that the program has started, by their numbers.
        message: where there is nothing, why.
        failed: where there is nothing, whether that is because the program failed.
        timed_out: whether it was ended because it took too long.
        interrupted: whether the user has ended it.
    """

    recorded: Recorded | None
    others: dict[int, Recorded | None] = field(default_factory=dict)
    message: str = ""
    failed: bool = False
    timed_out: bool = False
    interrupted: bool = False


def run_traced(
    program: Program,
    *,
    steps: int,
    max_wait: int,
    timeout: float | None,
    waiting: Callable[[str], None],
    skip_steps: int = 0,
    phase: int | None = 1,
    phase_seconds: float = 0.0,
    probes: Sequence[str] = (),
    probe_seconds: float = 10.0,
    reports_here: bool = False,
) -> Outcome:
    """Run a program until its recording ends. Its streams are the ones of this process.

    Args:
        timeout: seconds.
        reports_here: what the program prints goes to the standard error, because the report takes the standard output.
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
            str(skip_steps),
            str(phase or 0),
            str(phase_seconds),
            ",".join(probes),
            str(probe_seconds),
            program.kind,
            program.target,
            *program.arguments,
        ]
        child = subprocess.Popen(command, stdout=2 if reports_here else None)
        with _signals_go_to(child) as interrupts:
            timed_out = _wait(child, status, timeout, waiting)
        found = _outcome(outcome, status, child.returncode)
        first, others = those_that_train(found.recorded, Path(folder))
        found = replace(found, recorded=first, others=others)
        ended = found.recorded is not None and found.recorded.ended.how == "interrupted"
        interrupted = (ended or bool(interrupts)) and not timed_out
        return replace(found, timed_out=timed_out, interrupted=interrupted)


def _wait(
    child: subprocess.Popen[bytes],
    status: Path,
    timeout: float | None,
    waiting: Callable[[str], None],
) -> bool:
    """Wait for the program; end it where it takes too long, or where it does not end after its recording."""
    began = time.monotonic()
    ends_at: float | None = None
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
            ends_at = now if text == ENDS else None
        if ends_at is not None and now - ends_at > _PATIENCE:
            _end(child, signal.SIGTERM)
        elif timeout is not None and now - began > timeout:
            _end(child, signal.SIGINT)
            return ends_at is None
    return False


def _end(child: subprocess.Popen[bytes], number: signal.Signals) -> None:
    child.send_signal(number)
    try:
        child.wait(_GRACE)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


@contextmanager
def _signals_go_to(child: subprocess.Popen[bytes]) -> Iterator[list[int]]:
    """Ctrl-C reaches the program by itself, from the terminal, and is only noted here; others are passed on."""
    interrupts: list[int] = []
    kept = {signal.SIGINT: signal.signal(signal.SIGINT, lambda number, _: interrupts.append(number))}
    for one in _PASSED_ON:
        if signal.getsignal(one) is not signal.SIG_IGN:  # nohup
            kept[one] = signal.signal(one, lambda number, _: child.send_signal(number))
    try:
        yield interrupts
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)


def _outcome(file: Path, status: Path, code: int) -> Outcome:
    """What a program that has ended with an exit code left behind, and in the end what it was waiting for."""
    if file.exists():
        try:
            return Outcome(load(file))
        except (NotATrace, OSError) as error:
            return Outcome(None, message=f"the recording cannot be read: {error}")
    refused = file.with_suffix(".refused")
    if refused.exists():
        return Outcome(None, message=refused.read_text())
    nothing = file.with_suffix(".none")
    if nothing.exists():
        how, raised, children = [*nothing.read_text().split("\n"), "", ""][:3]
        reason = f" ({raised})" if raised else ""
        others = f", though it started {_processes(int(children))}" if children not in ("", "0") else ""
        ended = "failed" if how == "failed" else "ended"
        message = f"the program {ended} before it imported torch{reason}{others}"
        return Outcome(None, message=message, failed=how == "failed" or (how == "exited" and code != 0))
    if code < 0:
        waited = f", while the recording waited for {status.read_text()}" if status.exists() else ""
        hint = " (is there enough memory?)" if code == -signal.SIGKILL else ""
        said = f"the program was killed by {signal.Signals(-code).name}{hint}{waited}"
        return Outcome(None, message=said, failed=True)
    said = f"the program ended with exit code {code} without a recording"
    return Outcome(None, message=said, failed=code != 0)


def _processes(count: int) -> str:
    return "another process" if count == 1 else f"{count} other processes"


def folder_of(program: Program) -> Path:
    """Where a program's configuration is looked for."""
    return Path(os.path.dirname(os.path.abspath(program.target))) if program.kind == "script" else Path.cwd()
