"""Copies of this process that evaluate entry points of one group before it is their turn.

An entry point follows from nothing but the files that it uses, so a copy that is made when all bodies are done says of
it what this process would. Which entry points count is decided by their order alone, and not by when a copy is done:
what was evaluated in vain is thrown away.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess

from trainlint.program.incremental.outcome import Entry, Outcome, Turn

Work = Callable[[Entry], Outcome | None]
"""What an entry point leads to; None if something else may follow from it than that."""


class NotAlone(Exception):
    """Something follows from an entry point besides its outcome, or a copy has died: what copies foresee is of no use."""


class Helpers:
    """Evaluates entry points ahead of their turn, each where there is a process that waits.

    Args:
        turns: all entry points, in their order.
    """

    def __init__(self, connections: Sequence[Connection], turns: Sequence[Turn]) -> None:
        self._idle = list(connections)
        self._busy: dict[Connection, Entry] = {}
        self._turns = iter(turns)
        self._done: dict[Entry, Outcome | None] = {}
        self._foreseen: set[object] = set()
        """Functions that have been reached from entry points that are done, whether these count or not."""

    def outcome(self, entry: Entry) -> Outcome | None:
        """What an entry point leads to; None if nobody has been asked. Raises NotAlone."""
        self._ask()
        while entry not in self._done and entry in self._busy.values():
            for one in wait(list(self._busy)):
                assert isinstance(one, Connection)
                self._receive(one)
            self._ask()
        if entry not in self._done:
            return None
        outcome = self._done.pop(entry)
        if outcome is None:
            raise NotAlone
        return outcome

    def _ask(self) -> None:
        while self._idle:
            turn = next((one for one in self._turns if one.code not in self._foreseen), None)
            if turn is None:
                return
            connection = self._idle.pop()
            try:
                connection.send(turn.entry)
            except ConnectionError:  # it has died
                raise NotAlone from None
            self._busy[connection] = turn.entry

    def _receive(self, connection: Connection) -> None:
        entry = self._busy.pop(connection)
        try:
            outcome = connection.recv()
        except (EOFError, ConnectionError):
            raise NotAlone from None
        self._done[entry] = outcome
        if outcome is not None:
            self._foreseen |= outcome.reached
        self._idle.append(connection)


def can_help() -> bool:
    """Whether this process can be copied as it is."""
    return sys.platform == "linux" and threading.active_count() == 1


@contextmanager
def helpers(count: int, work: Work, turns: Sequence[Turn]) -> Iterator[Helpers]:
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
        yield Helpers(here, turns)
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
