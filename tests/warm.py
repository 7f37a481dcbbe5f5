"""Commands in forks of a process that has imported torch and trainlint: as a new `python` runs them, in a tenth of its time.

`tests/warm_process.py` is that process, one for each process of tests. `TRAINLINT_COLD=1` starts a new `python` for each.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

ROOT = Path(__file__).parent.parent
SECONDS = 300.0

Ran = subprocess.CompletedProcess[str]

_IS_POSSIBLE = sys.platform == "linux" and not os.environ.get("TRAINLINT_COLD")
_READ_AT_THE_START = ("PYTHON", "OMP_", "MKL_", "TORCH", "LC_", "LANG")
"""What variables begin with that a process reads before the first line of a program, or while it imports torch."""
_START = f"exec(compile(open({str(ROOT / 'tests/warm_process.py')!r}).read(), '<warm>', 'exec'))"


class Warm:
    """Runs commands one after the other; what one does is unknown to the next."""

    def __init__(self) -> None:
        self._line, there = socket.socketpair()
        self._process = subprocess.Popen(
            [sys.executable, "-c", _START, str(ROOT), str(there.fileno())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=[there.fileno()],
            env=as_usual(),
            start_new_session=True,
        )
        there.close()

    def run(
        self, arguments: Sequence[str], folder: Path, variables: Mapping[str, str], stdin: str, seconds: float
    ) -> Ran:
        order = json.dumps([list(arguments), str(folder), dict(variables)]).encode()
        with (
            tempfile.TemporaryFile() as given,
            tempfile.TemporaryFile() as out,
            tempfile.TemporaryFile() as err,
        ):
            given.write(stdin.encode())
            given.seek(0)
            socket.send_fds(self._line, [order], [given.fileno(), out.fileno(), err.fileno()])
            self._line.settimeout(seconds)
            try:
                code = self._line.recv(64)
            except TimeoutError:
                os.killpg(self._process.pid, signal.SIGKILL)
                raise subprocess.TimeoutExpired([*arguments], seconds, _text(out), _text(err)) from None
            assert code, f"the process that waits for commands has ended:\n{_text(err)}"
            return Ran([sys.executable, *arguments], int(code), _text(out), _text(err))

    def close(self) -> None:
        self._line.close()
        self._process.wait()

    @property
    def is_there(self) -> bool:
        return self._process.poll() is None


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")


_warm: Warm | None = None


def python(
    arguments: Sequence[str],
    folder: Path,
    variables: Mapping[str, str] | None = None,
    stdin: str = "",
    *,
    cold: bool = False,
    seconds: float = SECONDS,
) -> Ran:
    """What `python` says and does with these arguments, and these variables beside the usual ones.

    Args:
        cold: in a new process, whose start, signals or streams are looked at.
    """
    changed = {**as_usual(), **(variables or {})}
    if cold or not _IS_POSSIBLE or _starts_otherwise(changed) or arguments[0] == "-c":
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=folder,
            env=changed,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
    return _process().run(arguments, folder, changed, stdin, seconds)


def ran_instead(
    command: Sequence[str], cwd: Path | None = None, timeout: float = SECONDS, **_: object
) -> Ran:
    """`subprocess.run` for a command of Python whose streams are captured as text."""
    return python(command[1:], cwd or Path.cwd(), seconds=timeout)


def as_usual() -> dict[str, str]:
    """The variables of processes that tests start."""
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def _starts_otherwise(variables: Mapping[str, str]) -> bool:
    usual = as_usual()
    return any(
        variables.get(one) != usual.get(one)
        for one in {*variables, *usual}
        if one.startswith(_READ_AT_THE_START)
    )


def _process() -> Warm:
    global _warm
    if _warm is None or not _warm.is_there:
        _warm = Warm()
        atexit.register(_warm.close)
    return _warm
