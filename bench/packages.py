"""What a cold check of whole packages costs, and whether each of them ends well.

    python bench/packages.py FOLDER [FOLDER ...] --jobs 2 --seconds 1800

Each folder is one check without a cache. A package ends well if the check is over in time, nothing is raised, and
nothing is called a bug of trainlint. CPU seconds are those of all processes, MB those of the largest. Exits with 1 where
something did not end well.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from threading import Timer

import trees
from measured import trainlint


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=1800, help="by the clock, for one package")
    given = parser.parse_args()
    print("| package | lines | CPU s | CPU s per 1,000 lines | MB | findings | ended |", flush=True)
    print(f"|---|{'--:|' * 5}---|", flush=True)
    all_well = True
    for folder in given.folders:
        row, is_well = _row(folder, given.jobs, given.seconds)
        all_well &= is_well
        print(row, flush=True)
    sys.exit(0 if all_well else 1)


def _row(folder: Path, jobs: int, seconds: float) -> tuple[str, bool]:
    lines = sum(map(trees.lines, folder.rglob("*.py")))
    with tempfile.TemporaryDirectory() as scratch:
        report, errors = Path(scratch, "report.json"), Path(scratch, "errors")
        command = trainlint(
            "check", "--no-cache", "--output-format", "json", "--jobs", str(jobs), str(folder)
        )
        status, cpu, peak = _run(command, report, errors, seconds)
        found, ended = _ended(status, report, errors.read_text(errors="replace"))
    cost = f"{cpu:.1f} | {1000 * cpu / max(lines, 1):.2f} | {peak:.0f}"
    return f"| {folder.name} | {lines:,} | {cost} | {found} | {ended} |", ended == "well"


def _run(command: list[str], report: Path, errors: Path, seconds: float) -> tuple[int | None, float, float]:
    """The exit status, None if it was killed; the processor's seconds; MB."""
    surroundings = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parent.parent)}
    with report.open("wb") as out, errors.open("wb") as said:
        child = subprocess.Popen(command, env=surroundings, stdout=out, stderr=said, start_new_session=True)
        alarm = Timer(seconds, os.killpg, (child.pid, signal.SIGKILL))
        alarm.start()
        _, status, used = os.wait4(child.pid, 0)
        alarm.cancel()
    child.returncode = os.waitstatus_to_exitcode(status)
    peak = used.ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)
    return child.returncode if child.returncode >= 0 else None, used.ru_utime + used.ru_stime, peak


def _ended(status: int | None, report: Path, said: str) -> tuple[str, str]:
    """How many findings there are, and how the check ended."""
    if status is None:
        return "", "killed"
    if "Traceback" in said:
        return "", said.strip().splitlines()[-1]
    try:
        document = json.loads(report.read_text())
    except ValueError:
        return "", f"with {status}"
    bugs = [one["message"] for one in document["errors"] if "bug in trainlint" in one["message"]]
    return str(len(document["findings"])), bugs[0] if bugs else "well"


if __name__ == "__main__":
    main()
