"""One thread that checks what is open, always the latest text, and does what else has to be done with source."""

from __future__ import annotations

import gc
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Any, TypeVar

from trainlint.server.engine import Engine, Judged, Snapshot
from trainlint.server.pace import Pace
from trainlint.superseded import Superseded, while_wanted

_PAUSE = 0.01
"""Seconds without a change after which a check begins: a client may send several at once."""
_STACK = 64 * 1024 * 1024
"""Bytes: source may nest deeply."""
_IDLE = 0.5
"""Seconds without work after which there is time to tidy up."""
_MOST_CHECKS = 20
"""After so many without such a pause, a shorter one has to do."""
_BREATH = 0.03
"""Seconds of that: what was found is to be told first."""
Answer = TypeVar("Answer")


class Worker:
    """Checks the latest of the snapshots that it is handed; a check that is overtaken ends in the middle.

    Args:
        publish: is handed what was found, in the worker's thread.
        log: is handed what went wrong.
    """

    def __init__(self, engine: Engine, publish: Callable[[Judged], None], log: Callable[[str], None]) -> None:
        self._engine = engine
        self._publish = publish
        self._log = log
        self._news = threading.Condition()
        self._latest: Snapshot | None = None
        self._at = 0.0
        """When it was handed over."""
        self._unfinished: Snapshot | None = None
        """The last one that was checked, if not with all files that import it."""
        self._pace = Pace()
        self._questions: deque[tuple[Callable[[], Any], Future[Any]]] = deque()
        self._ends = False
        self._checks = 0
        before = threading.stack_size(_STACK)
        self._thread = threading.Thread(target=self._work, name="checks", daemon=True)
        self._thread.start()
        threading.stack_size(before)

    def check(self, snapshot: Snapshot) -> None:
        """Check this soon, and no longer what was handed over before."""
        with self._news:
            self._latest, self._at = snapshot, time.monotonic()
            self._news.notify()

    def ask(self, question: Callable[[], Answer]) -> Future[Answer]:
        """Have something done before all checks, or in the middle of one that is under way."""
        answer: Future[Answer] = Future()
        with self._news:
            self._questions.append((question, answer))
            self._news.notify()
        return answer

    def end(self) -> None:
        """Begin nothing more, and wait a moment for what is under way."""
        with self._news:
            self._ends = True
            self._news.notify()
        self._thread.join(timeout=1)

    def _work(self) -> None:
        gc.disable()  # a collection in the middle of a check costs more than the check
        while not self._ends:
            try:
                self._next()()
            except Exception:
                self._log(traceback.format_exc())

    def _next(self) -> Callable[[], None]:
        """What to do next, once there is something."""
        with self._news:
            while not self._ends:
                if self._questions:
                    return self._answer
                left, patience = self._left(), self._patience()
                if left is not None and left <= 0:
                    return partial(self._check, *self._taken())
                waits = min((one for one in (left, patience) if one is not None), default=None)
                if not self._news.wait(waits) and waits == patience:
                    return self._tidy
        return self._tidy

    def _left(self) -> float | None:
        """Seconds until the next check; None if there is nothing to check."""
        if self._latest is not None:
            return self._at + _PAUSE - time.monotonic()
        if self._unfinished is not None:
            return self._pace.begin(self._at) - time.monotonic()
        return None

    def _taken(self) -> tuple[Snapshot, bool]:
        """What is to be checked now, and whether with all files."""
        if self._latest is not None:
            snapshot, self._latest = self._latest, None
            return snapshot, self._pace.is_quick and self._engine.has_judged(snapshot)
        assert self._unfinished is not None
        return self._unfinished, True

    def _patience(self) -> float | None:
        """How long to wait for work before tidying up."""
        if self._checks >= _MOST_CHECKS:
            return _BREATH
        return _IDLE if self._checks else None

    def _check(self, snapshot: Snapshot, whole: bool) -> None:
        self._checks += 1
        self._unfinished = None
        began, is_done = time.thread_time(), False
        try:
            with while_wanted(self._is_latest):
                self._publish(self._engine.check(snapshot, whole=whole))
            is_done = True
        except Superseded:
            pass
        finally:
            if whole:
                self._pace.worked(time.thread_time() - began, time.monotonic(), to_the_end=is_done)
        if not (whole and is_done):
            self._unfinished = snapshot

    def _is_latest(self) -> bool:
        """Whether what is being checked is what is there. Questions are answered on the way."""
        while self._questions and not self._ends:
            self._answer()
        return self._latest is None and not self._ends

    def _answer(self) -> None:
        question, answer = self._questions.popleft()
        if answer.set_running_or_notify_cancel():
            try:
                answer.set_result(question())
            except Exception as error:
                answer.set_exception(error)

    def _tidy(self) -> None:
        """Free what refers to itself. What has stayed until now will stay, and need not be looked at again."""
        self._checks = 0
        gc.collect()
        gc.freeze()
