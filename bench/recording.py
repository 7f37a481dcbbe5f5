"""What recording steps costs: the first steps of each program, plain and recorded, in turn, on one thread.

    python bench/recording.py --rounds 5 --steps 1 5 20

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
CHILD = HERE.parent / "trainlint" / "trace" / "launch" / "child.py"
PROGRAMS = {
    "decoder, 6 layers of width 384": ("decoder.py", "384"),
    "decoder, 6 layers of width 128": ("decoder.py", "128"),
    "ResNet": ("cnn.py",),
    "MLP": ("mlp.py",),
    "3,000 small layers": ("layers.py",),
    "10,000 parameter tensors": ("tensors.py",),
}


class Run(NamedTuple):
    """Processor seconds of the steps, seconds of the whole process, peak memory in MB, and the trace's size in MB."""

    step: float
    wall: float
    peak: float
    trace: float


def run(program: Path, arguments: tuple[str, ...], steps: int, recorded: bool) -> Run:
    """Run a program for one step more than is recorded: a recorded one ends where that would step."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder, "outcome.trace")
        options = [str(steps), "100", "0", "1", "0", "", "0"]  # as child.py says: one phase, no probes
        recorder = [str(CHILD), str(trace), str(Path(folder, "status")), *options, "script"]
        command = [sys.executable, *(recorder if recorded else []), str(program), str(steps + 1), *arguments]
        began = time.perf_counter()
        child = subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, env={**kept, "OMP_NUM_THREADS": "1"}
        )
        assert child.stdout is not None
        said = child.stdout.read()
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - began
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode or trace.exists() != recorded:
            raise SystemExit(f"{' '.join(command)} ended with {child.returncode}, and {trace.exists()=}")
        times = [float(line.split()[1]) for line in said.splitlines() if line.startswith("step ")]
        size = trace.stat().st_size / 1e6 if recorded else 0.0
    return Run(sum(times[:steps]), wall, usage.ru_maxrss / 1e3, size)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, nargs="+", default=[1])
    options = parser.parse_args()
    print("| | steps | plain CPU s | recorded CPU s | ratio | plain peak MB | recorded peak MB | trace MB |")
    print("|---|" + "--:|" * 7)
    for name, (file, *arguments) in PROGRAMS.items():
        for steps in options.steps:
            pairs = _pairs(HERE / "programs" / file, tuple(arguments), steps, options.rounds)
            plain, ours = (_median([pair[n] for pair in pairs]) for n in (0, 1))
            print(
                f"| {name} | {steps} | {plain.step:.3f} | {ours.step:.3f} | {ours.step / plain.step:.2f} "
                f"| {plain.peak:.0f} | {ours.peak:.0f} | {ours.trace:.2f} |",
                flush=True,
            )
    with tempfile.TemporaryDirectory() as folder:
        empty = Path(folder, "empty.py")
        empty.write_text("import torch\n")
        pairs = _pairs(empty, (), 0, options.rounds)
    more = statistics.median(ours.wall - plain.wall for plain, ours in pairs)
    print(f"\nA program that imports torch and ends takes {more:.2f} s more with the recorder.")


def _pairs(program: Path, arguments: tuple[str, ...], steps: int, rounds: int) -> list[tuple[Run, Run]]:
    return [
        (run(program, arguments, steps, False), run(program, arguments, steps, True)) for _ in range(rounds)
    ]


def _median(runs: list[Run]) -> Run:
    return Run(*(statistics.median(column) for column in zip(*runs, strict=True)))


if __name__ == "__main__":
    main()
