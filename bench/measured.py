"""Runs a command as a child process and says what it cost."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

_HERE = Path(__file__).resolve().parent
_LINTERS_EXIT_WITH = (0, 1, 2)
"""Clean, findings, and files that cannot be read: all of them are a run to measure."""


class Cost(NamedTuple):
    """Seconds by the clock, seconds of processor in all processes, and the largest process in MB."""

    wall: float
    cpu: float
    peak: float


def trainlint(*arguments: str) -> list[str]:
    """The command that runs this checkout's `trainlint`."""
    return [sys.executable, "-m", "trainlint", *arguments]


def run(command: Sequence[str]) -> Cost:
    """What one run costs. Its output is thrown away; a command that fails ends the program.

    Bytecode is kept as after an installation, whatever the environment says: compiling is not what is measured.
    """
    surroundings = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryFile() as errors:
        began = time.perf_counter()
        child = subprocess.Popen(
            command,
            env={**surroundings, "PYTHONPATH": str(_HERE.parent)},
            stdout=subprocess.DEVNULL,
            stderr=errors,
        )
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - began
        child.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        said = errors.read()
    if child.returncode not in _LINTERS_EXIT_WITH or b"Traceback" in said:
        sys.exit(
            f"{' '.join(command)} failed with {child.returncode}:\n{said.decode(errors='replace')[-2000:]}"
        )
    unit = 1e6 if sys.platform == "darwin" else 1e3
    return Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / unit)


def in_turn(commands: Mapping[str, Sequence[str]], rounds: int, *, warm_up: bool = False) -> dict[str, Cost]:
    """The median cost of each command; the commands take turns, so that a slow minute hits all of them.

    A round before the first warms up what short commands would otherwise pay for once, if `warm_up` says so.
    """
    for command in commands.values() if warm_up else ():
        run(command)
    costs: dict[str, list[Cost]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            costs[name].append(run(command))
    return {name: median(several) for name, several in costs.items()}


def median(costs: Sequence[Cost]) -> Cost:
    return Cost(*(statistics.median(column) for column in zip(*costs, strict=True)))


def table(costs: Mapping[str, Cost], yardstick: str) -> str:
    """Costs in Markdown, each as a multiple of the yardstick's."""
    base = costs[yardstick]
    rows = [
        f"| | wall s | CPU s | peak MB | wall, {yardstick} = 1 | CPU, {yardstick} = 1 |",
        "|---|" + "--:|" * 5,
    ]
    rows += [
        f"| {name} | {one.wall:.2f} | {one.cpu:.2f} | {one.peak:.0f} "
        f"| {one.wall / base.wall:.2f} | {one.cpu / base.cpu:.2f} |"
        for name, one in costs.items()
    ]
    return "\n".join(rows)
