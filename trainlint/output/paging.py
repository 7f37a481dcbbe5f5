"""Long text on a terminal: through the pager that people have chosen, or less."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from contextlib import suppress
from typing import TextIO

from trainlint.output.writing import write


def write_paged(text: str, stream: TextIO) -> None:
    """Plain `write` where there is no terminal, or no pager; `PAGER` names one, and an empty one is none."""
    pager = _pager() if stream.isatty() and sys.stdin.isatty() else None
    if pager is None:
        write(text, stream)
        return
    surroundings = {"LESS": "FRX", "LV": "-c", **os.environ}
    try:
        reader = subprocess.Popen(pager, stdin=subprocess.PIPE, env=surroundings)
    except OSError:
        write(text, stream)
        return
    with suppress(OSError):  # it may be left before it has read everything
        reader.communicate(text.encode(errors="backslashreplace"))
    while True:
        with suppress(KeyboardInterrupt):  # Ctrl-C is the pager's
            reader.wait()
            return


def _pager() -> list[str] | None:
    """The command, if it is there; `cat` and a terminal that knows nothing need none."""
    if os.environ.get("TERM") == "dumb":
        return None
    try:
        command = shlex.split(os.environ.get("PAGER", "less"))
    except ValueError:
        return None
    if not command or command[0] == "cat" or shutil.which(command[0]) is None:
        return None
    return command
