"""Programs of several processes, which now and then die in gloo's own teardown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

_TORN_DOWN = "terminate called without an active exception"
"""What a process says where a thread of gloo asks for the interpreter while that is ending.

All its work is done by then. One run in twenty-five does, also without trainlint.
"""
_TIMES = 4


class Ended(Protocol):
    """A run that ended, and what it wrote to standard error."""

    @property
    def stderr(self) -> str: ...


E = TypeVar("E", bound=Ended)


def ended_by_itself(run: Callable[[], E]) -> E:
    """Run a program, and again where gloo killed it after its work was done."""
    for _ in range(_TIMES - 1):
        ended = run()
        if _TORN_DOWN not in ended.stderr:
            return ended
    return run()
