"""In which order events may happen: all of them, and the ways through branches and loops."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Literal, NamedTuple

from trainlint import limits
from trainlint.facts.model.effort import give_up
from trainlint.facts.model.events.event import Event
from trainlint.facts.model.exclusive import compared, is_among
from trainlint.facts.model.nodes import Body, Branch, Exit, Loop, Node, Rounds


def events(nodes: Sequence[Node]) -> Iterator[Event]:
    """Every event, in order, on whatever branch."""
    pending = [iter(nodes)]
    while pending:
        for node in pending[-1]:
            if isinstance(node, Event):
                yield node
            elif isinstance(node, Branch):
                pending.append(iter((*node.then, *node.otherwise)))
                break
            elif isinstance(node, (Loop, Body)):
                pending.append(iter(node.body))
                break
            elif isinstance(node, Rounds):
                pending.append(chain.from_iterable(node.rounds))
                break
        else:
            pending.pop()


def loops(nodes: list[Node]) -> Iterator[Loop]:
    """Every loop, outer before inner."""
    for node in nodes:
        if isinstance(node, Loop):
            yield node
            yield from loops(node.body)
        elif isinstance(node, Branch):
            yield from loops(node.then)
            yield from loops(node.otherwise)
        elif isinstance(node, Body):
            yield from loops(node.body)
        elif isinstance(node, Rounds):
            for one in node.rounds:
                yield from loops(one)


def branches(nodes: list[Node]) -> Iterator[Branch]:
    """Every branch, outer before inner."""
    for node in nodes:
        if isinstance(node, Branch):
            yield node
            yield from branches(node.then)
            yield from branches(node.otherwise)
        elif isinstance(node, (Loop, Body)):
            yield from branches(node.body)
        elif isinstance(node, Rounds):
            for one in node.rounds:
                yield from branches(one)


def runs(nodes: list[Node], kinds: tuple[type[Event], ...]) -> Iterator[list[Event]]:
    """Possible orders of events of these kinds, each loop run twice, as far as `limits` has room for them.

    Every order is one that the conditions allow, as far as they are known: a guard met twice goes the
    same way both times, unless what it tests changes in between.
    """
    kept = _pruned(nodes, kinds, {})
    known: set[tuple[int, ...]] = set()
    steps = 0
    for run in _ways(kept):
        order = tuple(map(id, run.events))
        if order not in known:
            known.add(order)
            yield run.events
        steps += run.steps
        if steps > limits.ORDER_STEPS:
            give_up("runs")
            yield _gone(kept, [], "ordinary").events
            return


_Manner = Literal["steered", "ordinary", "busy"]
"""How a way goes on where its choices end: every branch is taken; those alone that it would leave its loop or function
without; those in which something happens, if they go on."""


def _ways(kept: _Steps) -> Iterator[_Run]:
    """Ways through, one after the other: those that differ in the last branches first. Where these are too many, the ordinary
    and the busy one as well, and those that depart from one of them at one branch; not those that only end there, as where a
    setting is wrong."""
    choices: list[bool] = []
    for _ in range(limits.ORDERS):
        run = _gone(kept, choices)
        yield run
        choices = run.choices
        while choices and not choices[-1]:
            choices.pop()
        if not choices:
            return
        choices[-1] = False
    for manner in _AT_LAST:
        usual = _gone(kept, [], manner)
        yield usual
        for position in usual.departures()[: limits.DEPARTURES]:
            yield _gone(kept, [*usual.choices[:position], not usual.choices[position]], manner)


_AT_LAST: tuple[_Manner, ...] = ("ordinary", "busy")


def _gone(kept: _Steps, choices: list[bool], manner: _Manner = "steered") -> _Run:
    run = _Run(choices, manner)
    run.block(kept)
    return run


class _Fork(NamedTuple):
    """A branch; where its `key` is None, nothing is known of it. `setting` is the number of what it compares with
    constants, where it does."""

    key: int | None
    setting: int | None
    constants: frozenset[str]
    varies: tuple[int, ...]
    stays: bool
    """The side of the ordinary way: the branch is only taken where its other side leaves the loop or function."""
    then: _Steps
    otherwise: _Steps


class _Again(NamedTuple):
    """A loop of one iteration that stands for many."""

    number: int
    body: _Steps
    times: int


class _EachOnce(NamedTuple):
    """A loop that is followed item by item."""

    rounds: list[_Steps]


class _Inner(NamedTuple):
    """The body of a function."""

    body: _Steps


_Steps = list["list[Event] | _Fork | _Again | _EachOnce | _Inner | str"]
"""What is left of a tree: events that follow each other, and the kind of an exit as a word."""


class _Run:
    """One way through, steered by `choices`; where they end, it goes on in its manner, and that is noted."""

    def __init__(self, choices: list[bool], manner: _Manner) -> None:
        self.events: list[Event] = []
        self.choices = list(choices)
        self.steps = 0
        self._met: list[_Fork] = []
        self._manner = manner
        self._decided: dict[object, bool] = {}
        self._settings: dict[object, list[tuple[frozenset[str], bool]]] = {}
        self._round: dict[int, int] = {}

    def departures(self) -> list[int]:
        """The positions of choices where the other side does more than end the program; first those of branches in which
        something happens, then those that are left."""
        found = []
        for position, (fork, taken) in enumerate(zip(self._met, self.choices, strict=True)):
            other = fork.otherwise if taken else fork.then
            if not other or _matters(other, beside=("raise",)):
                found.append(position)
        return sorted(found, key=lambda position: not _happens(self._met[position]))

    def block(self, steps: _Steps) -> str | None:
        """Go through; how it was left, if not at its end."""
        for step in steps:
            left = None
            self.steps += 1
            if isinstance(step, list):
                self.steps += len(step)
                self.events += step
            elif isinstance(step, _Fork):
                side = step.then if self._choose(step) else step.otherwise
                left = self.block(side) if side else None
            elif isinstance(step, _Again):
                left = self._again(step)
            elif isinstance(step, _EachOnce):
                left = self._each_once(step)
            elif isinstance(step, _Inner):
                left = "raise" if self.block(step.body) == "raise" else None
            else:
                return step
            if left is not None:
                return left
        return None

    def _again(self, loop: _Again) -> str | None:
        for _ in range(loop.times):
            self._round[loop.number] = self._round.get(loop.number, 0) + 1
            left = self.block(loop.body)
            if left in ("return", "raise"):
                return left
            if left == "break":
                break
        return None

    def _each_once(self, loop: _EachOnce) -> str | None:
        for body in loop.rounds:
            left = self.block(body)
            if left in ("return", "raise"):
                return left
            if left == "break":
                break
        return None

    def _choose(self, fork: _Fork) -> bool:
        moment, setting = self._now(fork.key, fork), self._now(fork.setting, fork)
        decided = self._decided.get(moment) if moment is not None else None
        if decided is None and setting is not None:
            decided = is_among(fork.constants, self._settings.get(setting, ()))
        if decided is not None:
            return decided
        if len(self._met) == len(self.choices):
            self.choices.append(self._usual(fork))
        taken = self.choices[len(self._met)]
        self._met.append(fork)
        if moment is not None:
            self._decided[moment] = taken
        if setting is not None:
            self._settings.setdefault(setting, []).append((fork.constants, taken))
        return taken

    def _usual(self, fork: _Fork) -> bool:
        """Which side is taken where nothing says which."""
        if self._manner == "steered":
            return True
        is_busy = self._manner == "busy" and not _leaves(fork.then) and any(map(_happens, fork.then))
        return fork.stays or is_busy

    def _now(self, number: int | None, fork: _Fork) -> object:
        """A condition, or a setting, in the present iteration of the loops in which it varies."""
        if number is None or not fork.varies:
            return number
        return (number, *[self._round.get(loop, 0) for loop in fork.varies])


def _pruned(nodes: list[Node], kinds: tuple[type[Event], ...], numbers: dict[object, int]) -> _Steps:
    """The same tree without branches and loops in which nothing of interest happens.

    `numbers`: the keys of branches so far, each with a number in its place, which is quickly compared.
    """
    kept: _Steps = []
    for node in nodes:
        match node:
            case Branch():
                then, otherwise = _pruned(node.then, kinds, numbers), _pruned(node.otherwise, kinds, numbers)
                if then or otherwise:
                    kept.append(_fork(node, then, otherwise, numbers))
            case Loop():
                body = _pruned(node.body, kinds, numbers)
                if _matters(body, beside=("break", "continue")):
                    kept.append(_Again(node.number, body, 2 if _loops_deep(body) < limits.LOOPS_TWICE else 1))
            case Rounds():
                _add_rounds(kept, [_pruned(one, kinds, numbers) for one in node.rounds])
            case Body():
                body = _pruned(node.body, kinds, numbers)
                if body and body[-1] == "return":
                    body.pop()
                if not _has_exit(body):
                    _go_on(kept, body)
                elif _matters(body, beside=("return",)):
                    kept.append(_Inner(body))
            case Exit():
                if node.kind == "raise":
                    _leave_before(kept)
                kept.append(node.kind)
                break
            case _ if isinstance(node, kinds):
                _go_on(kept, [[node]])
    return kept


def _add_rounds(kept: _Steps, rounds: list[_Steps]) -> None:
    """Add a loop that is followed item by item: one after the other where nothing leaves it."""
    if not any(map(_has_exit, rounds)):
        for body in rounds:
            _go_on(kept, body)
    elif any(_matters(body, beside=("break", "continue")) for body in rounds):
        kept.append(_EachOnce(rounds))


def _fork(node: Branch, then: _Steps, otherwise: _Steps, numbers: dict[object, int]) -> _Fork:
    key = None if node.key is None else numbers.setdefault(node.key, len(numbers))
    asked = compared(node.key)
    stays = _leaves(otherwise)
    if asked is None:
        return _Fork(key, None, frozenset(), node.varies, stays, then, otherwise)
    setting = numbers.setdefault(("setting", asked.subject), len(numbers))
    return _Fork(key, setting, asked.constants, node.varies, stays, then, otherwise)


def _leaves(steps: _Steps) -> bool:
    """Whether steps end with an exit."""
    return bool(steps) and isinstance(steps[-1], str)


def _leave_before(steps: _Steps) -> None:
    """Let the ordinary way leave steps at the last of their branches that may, for they end in an error: `if kind == "a":
    return a` and more of these, and `raise` at last."""
    for position in reversed(range(len(steps))):
        step = steps[position]
        if isinstance(step, _Fork) and _leaves(step.then) and step.then[-1] != "raise":
            steps[position] = step._replace(stays=True)
            return


def _go_on(steps: _Steps, others: _Steps) -> None:
    """Add steps after others; events that follow each other become one step."""
    first, last = others[0] if others else None, steps[-1] if steps else None
    if isinstance(first, list) and isinstance(last, list):
        last += first
        others = others[1:]
    steps += others


def _loops_deep(steps: _Steps) -> int:
    """How many loops stand inside each other in some steps."""
    deepest = 0
    for step in steps:
        if isinstance(step, _Fork):
            deepest = max(deepest, _loops_deep(step.then), _loops_deep(step.otherwise))
        elif isinstance(step, _Again):
            deepest = max(deepest, 1 + _loops_deep(step.body))
        elif isinstance(step, _EachOnce):
            deepest = max(deepest, *map(_loops_deep, step.rounds))
        elif isinstance(step, _Inner):
            deepest = max(deepest, _loops_deep(step.body))
    return deepest


def _has_exit(steps: _Steps) -> bool:
    """Whether steps may be left before their end."""
    for step in steps:
        if isinstance(step, str):
            return True
        if isinstance(step, _Fork):
            if _has_exit(step.then) or _has_exit(step.otherwise):
                return True
        elif any(map(_has_exit, _bodies(step))):
            return True
    return False


def _bodies(step: object) -> list[_Steps]:
    """What a loop goes through."""
    if isinstance(step, _EachOnce):
        return step.rounds
    return [step.body] if isinstance(step, _Again) else []


def _happens(step: object) -> bool:
    """Whether there are events in a step, and not only exits."""
    if isinstance(step, _Fork):
        return any(map(_happens, (*step.then, *step.otherwise)))
    if isinstance(step, _Inner):
        return any(map(_happens, step.body))
    return isinstance(step, list) or any(_happens(one) for body in _bodies(step) for one in body)


def _matters(steps: _Steps, beside: tuple[str, ...]) -> bool:
    """Whether steps do anything but end in one of these ways, which what holds them comes to know nothing of."""
    for step in steps:
        if isinstance(step, str):
            if step not in beside:
                return True
        elif isinstance(step, _Fork):
            if _matters(step.then, beside) or _matters(step.otherwise, beside):
                return True
        else:
            return True
    return False
