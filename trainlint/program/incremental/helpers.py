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

_AT_ONCE = 4
"""Of so many entry points a copy is told at once, so that it goes on while the first process is at work on one of its own."""

_WINDOW = 500
"""Entry points of which some are done ahead: what these lead to is held until it is their turn."""

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
        self._asked_of: dict[Connection, deque[Entry]] = {one: deque() for one in connections}
        """What each copy is at work on, and what it is to do next."""
        self._turns = turns
        self._late: deque[Turn] = deque()
        """Turns that were passed over at first, and come after all as far as is known."""
        self._at = 0
        """Where the first process is."""
        self._seen = 0
        """Before here, each turn has been asked for or passed over."""
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
        self._receive(0)
        self._ask()
        while entry not in self._done and any(entry in asked for asked in self._asked_of.values()):
            self._receive(None)
            self._ask()
        if entry not in self._done:
            self._asked.add(entry)
            self._has_news = True
            return None
        outcome = self._done.pop(entry)
        if outcome is None:
            raise NotAlone
        return outcome

    def _ask(self) -> None:
        """Give each copy as much to do as it may know of at once, the one with the least first."""
        while True:
            connection = min(self._asked_of, key=lambda one: len(self._asked_of[one]))
            if len(self._asked_of[connection]) >= _AT_ONCE or (turn := self._next()) is None:
                return
            self._asked.add(turn.entry)
            try:
                connection.send(turn.entry)
            except ConnectionError:  # it has died
                raise NotAlone from None
            self._asked_of[connection].append(turn.entry)

    def _next(self) -> Turn | None:
        """What comes soonest and nobody is at work on: first what was passed over."""
        self._seen = max(self._seen, self._at)
        late = self._next_late()
        while late is None and self._seen < min(self._at + _WINDOW, len(self._turns)):
            turn = self._turns[self._seen]
            self._seen += 1
            if turn.code not in self._foreseen and turn.entry not in self._asked:
                return turn
        return late

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
        more = Known(set(), set())
        for number, turn in enumerate(self._turns[self._at : self._seen]):
            is_reached = turn.code in more.reached or turn.code in self._known.reached
            if is_reached and turn.code not in more.entered and turn.code not in self._known.entered:
                continue
            more.entered.add(turn.code)
            outcome = self._done.get(turn.entry)
            if outcome is not None:
                more.reached.update(outcome.reached)
            elif number and turn.entry not in self._asked:
                yield turn

    def _receive(self, seconds: float | None) -> None:
        """Take what copies have done by now, and wait for the next so long if there is nothing; None: until there is."""
        for one in wait([one for one, asked in self._asked_of.items() if asked], seconds):
            assert isinstance(one, Connection)
            self._take(one)
            while self._asked_of[one] and one.poll():
                self._take(one)

    def _take(self, one: Connection) -> None:
        try:
            outcome = one.recv()
        except (EOFError, ConnectionError):
            raise NotAlone from None
        self._done[self._asked_of[one].popleft()] = outcome
        self._has_news = True
        if outcome is not None:
            self._foreseen |= outcome.reached


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
