"""What recording a step costs: the first step of each program, plain and recorded, in turn.

    python bench/recording.py --rounds 5

The programs are in bench/programs. Start-up is measured with a program that imports torch and ends.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
CHILD = HERE.parent / "trainlint" / "trace" / "child.py"


class Run(NamedTuple):
    """Processor seconds of the first step, seconds of the whole process, peak memory in MB, and the trace's size in MB."""

    step: float
    wall: float
    peak: float
    trace: float


def run(program: Path, steps: int, recorded: bool) -> Run:
    """Run a program for so many steps. A recorded one ends where the second step would begin."""
    surroundings = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder, "outcome.trace")
        recorder = [str(CHILD), str(trace), str(Path(folder, "status")), "1", "100", "script"]
        command = [sys.executable, *(recorder if recorded else []), str(program), str(steps)]
        began = time.perf_counter()
        child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=surroundings)
        assert child.stdout is not None
        said = child.stdout.read()
        _, _, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - began
        child.returncode = 0
        times = [float(line.split()[1]) for line in said.splitlines() if line.startswith("step ")]
        size = trace.stat().st_size / 1e6 if trace.exists() else 0.0
    return Run(times[0] if times else 0.0, wall, usage.ru_maxrss / 1e3, size)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    print(
        "| | plain step, CPU s | recorded step, CPU s | ratio | plain peak MB | recorded peak MB | ratio | trace MB |"
    )
    print("|---|" + "--:|" * 7)
    for name in ("decoder", "cnn"):
        pairs = [
            (run(HERE / "programs" / f"{name}.py", 2, False), run(HERE / "programs" / f"{name}.py", 2, True))
            for _ in range(rounds)
        ]
        plain, ours = (_median([pair[n] for pair in pairs]) for n in (0, 1))
        print(
            f"| {name} | {plain.step:.3f} | {ours.step:.3f} | {ours.step / plain.step:.2f} | {plain.peak:.0f} "
            f"| {ours.peak:.0f} | {ours.peak / plain.peak:.2f} | {ours.trace:.2f} |",
            flush=True,
        )
    with tempfile.TemporaryDirectory() as folder:
        empty = Path(folder, "empty.py")
        empty.write_text("import torch\n")
        pairs = [(run(empty, 0, False), run(empty, 0, True)) for _ in range(rounds)]
    more = statistics.median(ours.wall - plain.wall for plain, ours in pairs)
    print(f"\nA program that imports torch and ends takes {more:.2f} s more with the recorder.")


def _median(runs: list[Run]) -> Run:
    return Run(*(statistics.median(column) for column in zip(*runs, strict=True)))


if __name__ == "__main__":
    main()
