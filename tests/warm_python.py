"""Does what `python` does with these arguments, in a fork of a process that has imported torch and trainlint.

Started as `python -I -S warm_python.py DOOR ARGUMENTS...`, for tests that start a process themselves. DOOR is a socket of
`tests/warm_process.py`. Imports as little as can be: this is all that a test waits for.
"""

from __future__ import annotations

import marshal
import os
import sys
from _socket import AF_UNIX, SCM_RIGHTS, SOCK_STREAM, SOL_SOCKET, socket
from collections.abc import Mapping, Sequence
from signal import SIG_DFL, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, signal

READ_AT_THE_START = ("PYTHON", "OMP_", "MKL_", "TORCH", "LC_", "LANG")
"""What variables begin with that a process reads before the first line of a program, or while it imports torch."""
LENGTH = 12
"""Bytes that say how long an order is."""


def starts_otherwise(usual: Mapping[str, str], variables: Mapping[str, str]) -> bool:
    """Whether the variables of a process are not those with which the process that waits has started."""
    return any(
        variables.get(one) != usual.get(one)
        for one in {*variables, *usual}
        if one.startswith(READ_AT_THE_START)
    )


def asked(
    door: str, arguments: Sequence[str], folder: str, variables: Mapping[str, str], files: Sequence[int]
) -> tuple[socket, int]:
    """Where a command says its exit code when it ends, and the number of its process."""
    line = socket(AF_UNIX, SOCK_STREAM)
    line.connect(door)
    order = marshal.dumps(([*arguments], folder, dict(variables)))
    numbers = b"".join(one.to_bytes(4, sys.byteorder) for one in files)
    line.sendmsg([b"%*d" % (LENGTH, len(order))], [(SOL_SOCKET, SCM_RIGHTS, numbers)])
    line.sendall(order)
    said = b""
    while not said.endswith(b"\n"):
        more = line.recv(1)
        assert more, "the process that waits for commands has ended"
        said += more
    return line, int(said)


def main() -> None:
    door, *arguments = sys.argv[1:]
    with open(f"{door}.variables", "rb") as file:
        usual = marshal.load(file)
    if starts_otherwise(usual, os.environ) or arguments[0] != "-m":
        os.execv(sys.executable, [sys.executable, *arguments])
    line, pid = asked(door, arguments, os.getcwd(), os.environ, (0, 1, 2))
    for sent in (SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1):
        signal(sent, lambda told, _: os.kill(pid, told))
    for number in (0, 1, 2):
        os.close(number)
    code = int(line.recv(16))
    if code < 0:
        signal(-code, SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


if __name__ == "__main__":
    main()
