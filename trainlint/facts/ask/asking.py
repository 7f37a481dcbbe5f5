"""The one way to ask a question of a value: with a memory, through cycles, and within a budget.

Values form a graph with joins and cycles. A question is a function of a value that asks itself, or other questions, of
the value's parts; `@question` gives it all that such a function needs:

- **Memory.** Answers are kept in the `Answers` of the training at hand, never on values: when a value changes, it is
  another training that asks, or the evaluator, which keeps no answers.
- **Cycles.** A question that comes back to itself is first answered by its `start`. All values of the cycle are asked
  again with what came out, until nothing changes, so that it does not matter where the cycle was entered.
- **Depth.** Where too many questions wait for each other, the innermost is answered on its own first.
- **Budget.** Each new question is a step. Beyond the limit, `OutOfSteps` ends whatever asks.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import update_wrapper
from typing import Any, Generic, ParamSpec, TypeVar

from trainlint import limits
from trainlint.facts.model.effort import Effort, counted_by, present
from trainlint.facts.model.values import Value

Given = ParamSpec("Given")
Answer = TypeVar("Answer")
Key = tuple[Hashable, ...]

_AT_ONCE = 20
"""Values of a walk whose steps are counted together."""

_SETTLED = 1 << 60
"""Deeper than any question: waits for none."""


class _TooDeep(Exception):
    """A question has to be answered on its own before those that wait for it."""

    def __init__(self, waiting: _Waiting) -> None:
        self.waiting = waiting


@dataclass(frozen=True)
class _Waiting:
    question: Question[Any, Any]
    key: Key
    given: tuple[Any, ...]


class Question(Generic[Given, Answer]):
    """A function of values whose answers are remembered.

    Args:
        start: what is assumed of a value while it is asked about.
        unknown: the answer where a limit is reached.
        lasts: whether the answer follows from what never changes about a value, so that the evaluator may keep it.
    """

    def __init__(
        self, work: Callable[Given, Answer], start: Answer, unknown: Answer, lasts: bool = False
    ) -> None:
        self.work = work
        self.start = start
        self.unknown = unknown
        self.lasts = lasts
        update_wrapper(self, work)

    def __call__(self, *given: Given.args, **options: Given.kwargs) -> Answer:
        assert not options, "questions take their arguments by position"
        answers = present()
        if not isinstance(answers, Answers):
            with answered_by(Answers(changing=True)) as answers:
                return answers.ask(self, given)  # type: ignore[no-any-return]
        return answers.ask(self, given)  # type: ignore[no-any-return]


def question(
    *, start: Any, unknown: Any, lasts: bool = False
) -> Callable[[Callable[Given, Answer]], Question[Given, Answer]]:
    """Make a function of a value, and of other hashable things, into a question. Its arguments go by position."""
    return lambda work: Question(work, start, unknown, lasts)


class Answers(Effort):
    """What is known of the values of one training, and how many steps that took.

    Args:
        changing: whether values change between questions: then answers are forgotten, but for those that last.
    """

    def __init__(self, *, changing: bool = False) -> None:
        super().__init__(limits.QUESTION_STEPS)
        self._changing = changing
        self._lasting: dict[Key, Any] = {}
        self._settled: dict[Key, Any] = {}
        self._open: dict[Key, int] = {}
        """Questions that wait for an answer, and how deep they stand."""
        self._guesses: dict[Key, Any] = {}
        """What is assumed of those that have come back to themselves."""
        self._tentative: dict[Key, tuple[Any, int]] = {}
        """Answers that follow from such a guess, and the depth of the outermost."""
        self._order: list[Key] = []
        """The tentative ones, oldest first."""
        self._waits_for = _SETTLED
        """The outermost guess that the present question has used."""

    def ask(self, asked: Question[Any, Any], given: tuple[Any, ...]) -> Any:
        if len(given) == 1:  # as most are, and this is where most of the time goes
            key: Key = (asked, given[0].uid if isinstance(given[0], Value) else given[0])
        else:
            key = (asked, *[one.uid if isinstance(one, Value) else one for one in given])
        known = self._lasting if asked.lasts else self._settled
        if key in known:
            return known[key]
        if key in self._tentative:
            answer, waits_for = self._tentative[key]
            self._waits_for = min(self._waits_for, waits_for)
            return answer
        if key in self._open:
            self._waits_for = min(self._waits_for, self._open[key])
            return self._guesses.setdefault(key, asked.start)
        self.spend()
        if not self._open:
            return self._outermost(_Waiting(asked, key, given))
        if len(self._open) >= limits.QUESTION_DEPTH:
            raise _TooDeep(_Waiting(asked, key, given))
        return self._answered(_Waiting(asked, key, given))

    def _outermost(self, first: _Waiting) -> Any:
        """Answer a question that no other waits for, and before it those that stand too deep."""
        waiting = [first]
        answer = None
        try:
            while waiting:
                try:
                    answer = self._answered(waiting[-1])
                    waiting.pop()
                except _TooDeep as deep:
                    self._forget_guesses()
                    if len(waiting) > limits.QUESTION_RESTARTS or deep.waiting in waiting:
                        self._give_up(deep.waiting)
                    else:
                        waiting.append(deep.waiting)
            return answer
        finally:
            self._forget_guesses()
            if self._changing:
                self._settled.clear()

    def _give_up(self, one: _Waiting) -> Any:
        self.give_up(one.question.work.__qualname__)
        self._known(one.question)[one.key] = one.question.unknown
        return one.question.unknown

    def _known(self, asked: Question[Any, Any]) -> dict[Key, Any]:
        return self._lasting if asked.lasts else self._settled

    def _forget_guesses(self) -> None:
        self._open.clear()
        self._guesses.clear()
        self._tentative.clear()
        self._order.clear()
        self._waits_for = _SETTLED

    def _answered(self, one: _Waiting) -> Any:
        depth, begun = len(self._open), len(self._order)
        outer, self._waits_for = self._waits_for, _SETTLED
        self._open[one.key] = depth
        answer = one.question.work(*one.given)
        if self._waits_for == depth:
            answer = self._once_stable(one, answer, depth, begun)
        del self._open[one.key]
        if self._waits_for < depth:
            self._tentative[one.key] = answer, self._waits_for
            self._order.append(one.key)
            self._waits_for = min(outer, self._waits_for)
            return answer
        if len(self._order) > begun:
            self._settle(begun)
        self._guesses.pop(one.key, None)
        (self._lasting if one.question.lasts else self._settled)[one.key] = answer
        self._waits_for = outer
        return answer

    def _once_stable(self, one: _Waiting, answer: Any, depth: int, begun: int) -> Any:
        """Ask everything on a cycle again until no guess is wrong any more."""
        for _ in range(limits.CYCLE_ITERATIONS):
            found = {key: self._tentative[key][0] for key in self._order[begun:]}
            found[one.key] = answer
            wrong = {key: new for key, new in found.items() if self._guesses.get(key, new) != new}
            if not wrong:
                return answer
            self._guesses.update(wrong)
            self._drop(begun)
            self._waits_for = _SETTLED
            answer = one.question.work(*one.given)
            if self._waits_for < depth:
                return answer
        self._drop(begun)
        self._waits_for = _SETTLED
        return self._give_up(one)

    def _drop(self, begun: int) -> None:
        """Forget the answers that follow from guesses that were wrong."""
        for key in self._order[begun:]:
            del self._tentative[key]
        del self._order[begun:]

    def _settle(self, begun: int) -> None:
        """Keep the answers that follow from guesses that were right."""
        for key in self._order[begun:]:
            asked: Any = key[0]
            self._known(asked)[key] = self._tentative.pop(key)[0]
            self._guesses.pop(key, None)
        del self._order[begun:]


@contextmanager
def answered_by(answers: Answers) -> Iterator[Answers]:
    """Questions that are asked inside are answered here."""
    frames = sys.getrecursionlimit()
    sys.setrecursionlimit(max(frames, limits.FRAMES))
    try:
        with counted_by(answers):
            yield answers
    finally:
        sys.setrecursionlimit(frames)


def reached(
    begin: Iterable[Value],
    into: Callable[[Value], Iterable[Value]] | None = None,
    most: int = 4000,
) -> Iterator[Value]:
    """Some values and all that they lead to, each once, at most so many; `into` says where one leads to, if not to all of its
    parts."""
    pending = list(begin)
    seen: set[int] = set()
    effort = present()
    left = most
    while pending and left:
        one = pending.pop()
        if one.uid not in seen:
            seen.add(one.uid)
            left -= 1
            if effort is not None and (most - left) % _AT_ONCE == 0:
                effort.spend(_AT_ONCE)
            yield one
            pending += one.parts() if into is None else into(one)
    if effort is not None:
        effort.spend((most - left) % _AT_ONCE)
