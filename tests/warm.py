"""Commands in forks of a process that has imported torch and trainlint: as a new `python` runs them, in a tenth of its time.

`tests/warm_process.py` is that process, one for each process of tests. `TRAINLINT_COLD=1` starts a new `python` for each.
"""

from __future__ import annotations

import atexit
import marshal
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import IO

from tests.warm_python import asked, starts_otherwise

ROOT = Path(__file__).parent.parent
SECONDS = 300.0

Ran = subprocess.CompletedProcess[str]

_IS_POSSIBLE = (
    sys.platform == "linux" and not os.environ.get("TRAINLINT_COLD") and find_spec("torch") is not None
)
_START = f"exec(compile(open({str(ROOT / 'tests/warm_process.py')!r}).read(), '<warm>', 'exec'))"


class Warm:
    """Runs commands side by side; what one does is unknown to the others."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="warm")
        self.door = f"{self._folder.name}/door"
        with open(f"{self.door}.variables", "wb") as file:
            marshal.dump(as_usual(), file)
        self._life, there = socket.socketpair()
        with there, socket.socket(socket.AF_UNIX) as door:
            door.bind(self.door)
            door.listen()
            self._process = subprocess.Popen(
                [sys.executable, "-c", _START, str(ROOT), str(door.fileno()), str(there.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[door.fileno(), there.fileno()],
                env=as_usual(),
                start_new_session=True,
            )

    def run(
        self, arguments: Sequence[str], folder: Path, variables: Mapping[str, str], stdin: str, seconds: float
    ) -> Ran:
        with (
            tempfile.TemporaryFile() as given,
            tempfile.TemporaryFile() as out,
            tempfile.TemporaryFile() as err,
        ):
            given.write(stdin.encode())
            given.seek(0)
            files = [given.fileno(), out.fileno(), err.fileno()]
            line, _ = asked(self.door, arguments, str(folder), variables, files)
            line.settimeout(seconds)
            try:
                code = line.recv(16)
            except TimeoutError:
                raise subprocess.TimeoutExpired([*arguments], seconds, _text(out), _text(err)) from None
            finally:
                line.close()
            assert code, f"the process that waits for commands has ended:\n{_text(err)}"
            return Ran([sys.executable, *arguments], int(code), _text(out), _text(err))

    def close(self) -> None:
        self._life.close()
        self._process.wait()
        self._folder.cleanup()

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
    if cold or not _IS_POSSIBLE or starts_otherwise(as_usual(), changed) or arguments[0] == "-c":
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


def executable() -> list[str]:
    """What tests start in place of `sys.executable`: with `-m` and a module it does the same in a tenth of the time.

    Processes that read other variables at their start, and all others, are those of `sys.executable`.
    """
    if not _IS_POSSIBLE:
        return [sys.executable]
    return [sys.executable, "-I", "-S", str(ROOT / "tests/warm_python.py"), _process().door]


def _process() -> Warm:
    global _warm
    if _warm is None or not _warm.is_there:
        _warm = Warm()
        atexit.register(_warm.close)
    return _warm
