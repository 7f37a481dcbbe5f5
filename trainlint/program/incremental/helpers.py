"""Copies of this process that evaluate entry points of one group before it is their turn.

An entry point follows from nothing but the files that it uses, so a copy that is made when all bodies are done says of
it what this process would. Which entry points count is decided by their order alone, and not by when a copy is done:
what was evaluated in vain is thrown away.
"""

from __future__ import annotations

import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from typing import NamedTuple

from trainlint.program.evaluate.uses import Code
from trainlint.program.incremental.outcome import Entry, Outcome, Turn

Work = Callable[[Entry], Outcome | None]
"""What an entry point leads to; None if something else may follow from it than that."""


class Known(NamedTuple):
    """Functions that what counts so far has reached, and those that were entered on their own."""

    reached: set[Code]
    entered: set[Code | None]

    def passes_over(self, turn: Turn) -> bool:
        return turn.code in self.reached and turn.code not in self.entered


class NotAlone(Exception):
    """Something follows from an entry point besides its outcome, or a copy has died: what copies foresee is of no use."""


class Helpers:
    """Evaluates entry points ahead of their turn, each where there is a process that waits.

    Args:
        turns: all entry points, in their order.
        known: what the first process has reached and entered by now.
    """

    def __init__(self, connections: Sequence[Connection], turns: Sequence[Turn], known: Known) -> None:
        self._idle = list(connections)
        self._busy: dict[Connection, Entry] = {}
        self._turns = turns
        self._first = iter(turns)
        self._late: deque[Turn] = deque()
        """Turns that were passed over at first, and come after all as far as is known."""
        self._at = 0
        """Where the first process is."""
        self._known = known
        self._asked: set[Entry] = set()
        self._done: dict[Entry, Outcome | None] = {}
        self._foreseen: set[object] = set()
        """Functions that have been reached from entry points that are done, whether these count or not."""
        self._has_news = True

    def outcome(self, entry: Entry) -> Outcome | None:
        """What an entry point leads to; None if nobody has been asked. Raises NotAlone."""
        while self._turns[self._at].entry != entry:
            self._at += 1
        self._ask()
        while entry not in self._done and entry in self._busy.values():
            for one in wait(list(self._busy)):
                assert isinstance(one, Connection)
                self._receive(one)
            self._ask()
        if entry not in self._done:
            self._asked.add(entry)
            return None
        outcome = self._done.pop(entry)
        if outcome is None:
            raise NotAlone
        return outcome

    def _ask(self) -> None:
        while self._idle:
            turn = (
                next((one for one in self._first if one.code not in self._foreseen), None)
                or self._next_late()
            )
            if turn is None:
                return
            self._asked.add(turn.entry)
            connection = self._idle.pop()
            try:
                connection.send(turn.entry)
            except ConnectionError:  # it has died
                raise NotAlone from None
            self._busy[connection] = turn.entry

    def _next_late(self) -> Turn | None:
        if not self._late and self._has_news:
            self._has_news = False
            self._late.extend(self._passed_over())
        while self._late:
            turn = self._late.popleft()
            if turn.entry not in self._asked and not self._known.passes_over(turn):
                return turn
        return None

    def _passed_over(self) -> Iterator[Turn]:
        """Turns that come after all, as they go on from here, and that nobody has been asked for: what reached their functions
        does not count."""
        known = Known(set(self._known.reached), set(self._known.entered))
        for number, turn in enumerate(self._turns[self._at :]):
            if known.passes_over(turn):
                continue
            known.entered.add(turn.code)
            outcome = self._done.get(turn.entry)
            if outcome is not None:
                known.reached.update(outcome.reached)
            elif number and turn.entry not in self._asked:
                yield turn

    def _receive(self, connection: Connection) -> None:
        entry = self._busy.pop(connection)
        try:
            outcome = connection.recv()
        except (EOFError, ConnectionError):
            raise NotAlone from None
        self._done[entry] = outcome
        self._has_news = True
        if outcome is not None:
            self._foreseen |= outcome.reached
        self._idle.append(connection)


def can_help() -> bool:
    """Whether this process can be copied as it is."""
    return sys.platform == "linux" and threading.active_count() == 1


@contextmanager
def helpers(count: int, work: Work, turns: Sequence[Turn], known: Known) -> Iterator[Helpers]:
    """So many copies of this process, as it is now, that do a piece of work whenever they are asked to."""
    context = get_context("fork")
    here: list[Connection] = []
    copies: list[ForkProcess] = []
    try:
        for _ in range(count):
            mine, other = context.Pipe()
            here.append(mine)
            copy = context.Process(target=_help, args=(tuple(here), other, work), daemon=True)
            copy.start()
            other.close()
            copies.append(copy)
        yield Helpers(here, turns, known)
    finally:
        for copy in copies:
            copy.terminate()
        for connection in here:
            connection.close()
        for copy in copies:
            copy.join()


def _help(others: Sequence[Connection], connection: Connection, work: Work) -> None:
    for one in others:  # so that nothing but the first process keeps them open
        one.close()
    with suppress(EOFError, ConnectionError):  # the first process has ended
        while True:
            connection.send(work(connection.recv()))
