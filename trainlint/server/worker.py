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
        """Have something done before all checks. One that is under way begins again after it."""
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
                    return partial(_answer, *self._questions.popleft())
                if self._latest is not None:
                    left = self._at + _PAUSE - time.monotonic()
                    if left <= 0:
                        snapshot, self._latest = self._latest, None
                        return partial(self._check, snapshot)
                    self._news.wait(left)
                elif not self._news.wait(self._patience()):
                    return self._tidy
        return self._tidy

    def _patience(self) -> float | None:
        """How long to wait for work before tidying up."""
        if self._checks >= _MOST_CHECKS:
            return _BREATH
        return _IDLE if self._checks else None

    def _check(self, snapshot: Snapshot) -> None:
        self._checks += 1
        try:
            with while_wanted(self._has_no_news):
                if not self._engine.is_quick(snapshot):
                    self._publish(self._engine.check(snapshot, whole=False))
                self._publish(self._engine.check(snapshot, whole=True))
        except Superseded:
            with self._news:
                self._latest = self._latest or snapshot

    def _has_no_news(self) -> bool:
        return self._latest is None and not self._questions and not self._ends

    def _tidy(self) -> None:
        """Free what refers to itself. What has stayed until now will stay, and need not be looked at again."""
        self._checks = 0
        gc.collect()
        gc.freeze()


def _answer(question: Callable[[], Answer], answer: Future[Answer]) -> None:
    if answer.set_running_or_notify_cancel():
        try:
            answer.set_result(question())
        except Exception as error:
            answer.set_exception(error)
