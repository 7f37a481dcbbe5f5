"""Counts the work for one pattern in a process of its own, which may be given up at any moment.

    python -m bench.growing.measure PATTERN MOST SIZE...

prints a line of JSON for each size, and ends with the first that takes too much.
"""

from __future__ import annotations

import faulthandler
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from .patterns import PATTERNS
from .program import script
from .work import TooMuchWork, check, work_of

_ROOT = Path(__file__).resolve().parents[2]
_SECONDS = 30
"""Of processor time, for what no count of calls notices: work inside one call into C."""
_BYTES = 3 << 30


class Measured(NamedTuple):
    """What checking a program came to.

    Args:
        size: what the pattern was asked for.
        tokens: how much text that made.
        work: None where it was too much to be counted, or went wrong.
        said: where it was lost, or what went wrong.
    """

    size: int
    tokens: int
    work: int | None
    said: str = ""


def measured(
    name: str, sizes: Sequence[int], most: int, python: Sequence[str] = (sys.executable,)
) -> list[Measured]:
    """The work for programs of growing size, up to the first that takes more than `most`."""
    command = [*python, "-m", "bench.growing.measure", name, str(most), *map(str, sizes)]
    with tempfile.TemporaryFile("w+") as errors:
        done = subprocess.run(
            command,
            cwd=_ROOT,
            env={**os.environ, "PYTHONPATH": str(_ROOT)},
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            check=False,
        )
        errors.seek(0)
        told = errors.read()
    found = [Measured(*json.loads(line)) for line in done.stdout.splitlines()]
    if done.returncode:
        missing = sizes[len(found)]
        found.append(Measured(missing, PATTERNS[name](missing).tokens, None, _last_words(told)))
    return found


def _last_words(told: str) -> str:
    """Where a process was that had to be ended, from what it said on standard error."""
    frames = re.findall(r'File ".*?([\w.]+)\.py", line \d+ in (\w+)', told)
    if frames:
        return "in one call: " + ", ".join(dict.fromkeys(f"{file}.{name}" for file, name in frames[:6]))
    return told.strip().rpartition("\n")[2] or "ended without a word"


def main() -> None:
    name, most, *sizes = sys.argv[1:]
    _limit()
    check(script())  # what is read once is read here
    for size in map(int, sizes):
        program = PATTERNS[name](size)
        work, said = None, ""
        try:
            work = work_of(program, int(most))
        except (TooMuchWork, ValueError) as error:
            said = f"{error}"
        print(json.dumps(Measured(size, program.tokens, work, said)), flush=True)
        if work is None:
            return


def _limit() -> None:
    """End this process, with a word on where it is, when it takes far too much time or memory."""
    import resource

    faulthandler.register(signal.SIGXCPU, all_threads=False, chain=True)
    resource.setrlimit(resource.RLIMIT_CPU, (_SECONDS, _SECONDS + 5))
    resource.setrlimit(resource.RLIMIT_AS, (_BYTES, _BYTES))


if __name__ == "__main__":
    main()
