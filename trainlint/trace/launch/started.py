"""Processes that the program starts to train in: each is recorded, and when they have ended, the program is. Imports no torch."""

from __future__ import annotations

import _thread
import functools
import os
import signal
import sys
import threading
import time
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trainlint.trace.launch.asked import Asked
from trainlint.trace.launch.stop import DONE, STOPPED
from trainlint.trace.launch.watched import Watched

if TYPE_CHECKING:
    from trainlint.trace.launch.launch import Launch

_HOME = str(Path(__file__).resolve().parents[3])
_SPAWNS = ("torch.multiprocessing.spawn", "_wrap")
"""With which `torch.multiprocessing.spawn` calls a function in each process; the function is its first argument."""
_PATIENCE = 60.0
"""Seconds that the others have to end, where one process was seen to end."""
_GRACE = 5.0
"""Seconds that the program has to notice that its processes have ended."""
_POLL = 0.2


class Started:
    """Follows the processes that a program starts, in that program.

    Args:
        folder: where their recordings go: `child-0.trace`, `child-1.trace`, ...
    """

    def __init__(self, launch: Launch, asked: Asked, folder: Path) -> None:
        self._launch = launch
        self._asked = asked
        self._folder = folder
        self._pid = os.getpid()
        self._processes: list[Any] = []
        self._is_own: Callable[[str], bool] | None = None
        self._has_ended = False

    def patch(self, module: types.ModuleType) -> None:
        """`multiprocessing.process` is there."""
        kind: Any = module.BaseProcess
        start, join = kind.start, kind.join

        @functools.wraps(start)
        def starting(process: Any) -> Any:
            if os.getpid() != self._pid or self._has_ended or not self._is_wanted(process, kind):
                return start(process)
            self._follow(process)
            with _findable():
                return start(process)

        @functools.wraps(join)
        def joining(process: Any, timeout: float | None = None) -> None:
            join(process, timeout)
            if process in self._processes and process.exitcode is not None and os.getpid() == self._pid:
                self._look_for_the_end(join)

        kind.start, kind.join = starting, joining

    def _is_wanted(self, process: Any, kind: type) -> bool:
        """Whether a process does what the program says, and is no worker of a loader or a pool."""
        target = process._target
        if target is None:
            own = type(process)
            return own.run is not kind.run and self._belongs(own.__module__)  # type: ignore[attr-defined]
        target = getattr(target, "func", target)
        return _spawns(target) or self._belongs(getattr(target, "__module__", None) or "")

    def _belongs(self, module: str) -> bool:
        """Whether a module is the program's own."""
        if module == "__main__":
            return True
        if self._is_own is None:
            from trainlint.trace.watch.own_code import OwnCode

            self._is_own = OwnCode(self._asked.root, self._asked.folder).is_own_file
        file = getattr(sys.modules.get(module), "__file__", None)
        return file is not None and self._is_own(file)

    def _follow(self, process: Any) -> None:
        outcome = self._folder / f"child-{len(self._processes)}.trace"
        if _spawns(process._target):
            function, *others = process._args
            process._args = (Watched(function, self._asked, outcome), *others)
        else:
            process.run = Watched(process.run, self._asked, outcome)
        self._processes.append(process)
        if len(self._processes) == 1 and threading.current_thread() is threading.main_thread():
            self._attend()

    # The end

    def _look_for_the_end(self, join: Callable[..., None]) -> None:
        """A process has ended. If that was because enough is recorded, the program is ended too, when all have."""
        if self._has_ended or self._launch.trains or not self._stopped():
            return
        self._has_ended = True
        until = time.monotonic() + _PATIENCE
        for one in self._processes:
            join(one, max(0.0, until - time.monotonic()))
        self._launch.enough("recorded")

    def _stopped(self) -> list[Path]:
        """The recordings of processes that were ended because enough is recorded."""
        return sorted(self._folder.glob(f"child-*{STOPPED}"))

    def _attend(self) -> None:
        """A program that waits for something else than the end of its processes, such as a result in a queue, is told by a
        signal."""
        if not hasattr(signal, "SIGUSR2") or signal.getsignal(signal.SIGUSR2) != signal.SIG_DFL:
            return

        def told(*_: Any) -> None:
            if not self._has_ended:
                self._has_ended = True
                self._launch.enough("recorded")

        def wait() -> None:
            while not (stopped := self._stopped()) or not all(
                one.with_suffix(DONE).exists() for one in stopped
            ):
                time.sleep(_POLL)
            time.sleep(_GRACE)
            if not self._has_ended and not self._launch.trains:
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGUSR2)

        signal.signal(signal.SIGUSR2, told)
        _thread.start_new_thread(wait, ())


def _spawns(target: Any) -> bool:
    return (getattr(target, "__module__", ""), getattr(target, "__name__", "")) == _SPAWNS


@contextmanager
def _findable() -> Iterator[None]:
    """A new process gets the present folders of modules: this package has to be in one of them."""
    if _HOME in sys.path:
        yield
        return
    sys.path.append(_HOME)
    try:
        yield
    finally:
        sys.path.remove(_HOME)
