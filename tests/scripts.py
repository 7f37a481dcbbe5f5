"""Scripts that run in processes of their own, each a fork of one that has imported torch and done nothing with it."""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import IO, NamedTuple

_SECONDS = 60


class Ran(NamedTuple):
    """How a script ended."""

    returncode: int
    stdout: str
    stderr: str


class Runner:
    """Runs scripts one after the other; what one does is unknown to the next."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def run(self, script: Path) -> Ran:
        """Run a script in its folder, without warnings; it is ended after a minute."""
        commands, answers = self._process.stdin, self._process.stdout
        assert commands is not None and answers is not None
        commands.write(f"{json.dumps(str(script))}\n")
        commands.flush()
        return Ran(*json.loads(answers.readline()))

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def _serve() -> None:
    """Answer each script named on standard input with its exit code and what it printed."""
    import torch._dynamo  # noqa: F401  (every optimizer asks for it)

    for line in sys.stdin:
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
            child = os.fork()
            if child == 0:
                _be(Path(json.loads(line)), out, errors)
            _, status = os.waitpid(child, 0)
            answer = [os.waitstatus_to_exitcode(status), *map(_text, (out, errors))]
        print(json.dumps(answer), flush=True)


def _be(script: Path, out: IO[bytes], errors: IO[bytes]) -> None:
    """Become the script."""
    import signal

    signal.alarm(_SECONDS)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(out.fileno(), 1)
    os.dup2(errors.fileno(), 2)
    os.chdir(script.parent)
    sys.argv, sys.path[0] = [script.name], str(script.parent)
    warnings.simplefilter("ignore")
    code = 1
    try:
        runpy.run_path(str(script), run_name="__main__")
        code = 0
    except SystemExit as exit:
        code = exit.code if isinstance(exit.code, int) else int(exit.code is not None)
    except BaseException as error:
        sys.excepthook(type(error), error, error.__traceback__)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")


if __name__ == "__main__":
    _serve()
