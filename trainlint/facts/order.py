"""In which order events may happen: all of them, and the ways through branches and loops."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainlint.facts.events import Event
from trainlint.facts.nodes import Body, Branch, Exit, Loop, Node


def events(nodes: list[Node]) -> Iterator[Event]:
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


def runs(nodes: list[Node], kinds: tuple[type[Event], ...], limit: int = 64) -> Iterator[list[Event]]:
    """Possible orders of events of these kinds, each loop run twice, at most `limit` of them.

    Every order is one that the conditions allow, as far as they are known: a guard met twice goes the
    same way both times, unless what it tests changes in between.
    """
    kept = _pruned(nodes, kinds)
    choices: list[bool] = []
    for _ in range(limit):
        run = _Run(kinds, choices)
        run.block(kept)
        yield run.events
        choices = run.choices
        while choices and not choices[-1]:
            choices.pop()
        if not choices:
            return
        choices[-1] = False


class _Run:
    """One way through, steered by `choices`; where they end, branches are taken and that is noted."""

    def __init__(self, kinds: tuple[type[Event], ...], choices: list[bool]) -> None:
        self.events: list[Event] = []
        self.choices = list(choices)
        self._kinds = kinds
        self._met = 0
        self._decided: dict[Any, bool] = {}
        self._round: dict[int, int] = {}

    def block(self, nodes: list[Node]) -> str | None:
        for node in nodes:
            left = None
            if isinstance(node, Branch):
                side = node.then if self._choose(node) else node.otherwise
                left = self.block(side) if side else None
            elif isinstance(node, Loop):
                left = self._twice(node)
            elif isinstance(node, Body):
                left = "raise" if self.block(node.body) == "raise" else None
            elif isinstance(node, Exit):
                return node.kind
            else:
                self.events.append(node)
            if left is not None:
                return left
        return None

    def _twice(self, loop: Loop) -> str | None:
        for _ in range(2):
            self._round[loop.number] = self._round.get(loop.number, 0) + 1
            left = self.block(loop.body)
            if left in ("return", "raise"):
                return left
            if left == "break":
                break
        return None

    def _choose(self, branch: Branch) -> bool:
        moment = (branch.key, tuple(self._round.get(loop, 0) for loop in branch.varies))
        if branch.key is not None and moment in self._decided:
            return self._decided[moment]
        if self._met == len(self.choices):
            self.choices.append(True)
        taken = self.choices[self._met]
        self._met += 1
        self._decided[moment] = taken
        return taken


def _pruned(nodes: list[Node], kinds: tuple[type[Event], ...]) -> list[Node]:
    """The same tree without branches and loops in which nothing of interest happens."""
    kept: list[Node] = []
    for node in nodes:
        match node:
            case Branch():
                then, otherwise = _pruned(node.then, kinds), _pruned(node.otherwise, kinds)
                if then or otherwise:
                    kept.append(Branch(node.key, node.varies, then, otherwise))
            case Loop():
                body = _pruned(node.body, kinds)
                if any(not isinstance(one, Exit) for one in body):
                    kept.append(Loop(node.number, node.at, body, node.over))
            case Body():
                body = _pruned(node.body, kinds)
                if _matters(body):
                    kept.append(Body(body))
            case Exit():
                kept.append(node)
                break
            case _:
                if isinstance(node, kinds):
                    kept.append(node)
    return kept


def _matters(nodes: list[Node]) -> bool:
    """Whether a body does anything but return."""
    for node in nodes:
        if isinstance(node, Exit):
            if node.kind != "return":
                return True
        elif isinstance(node, Branch):
            if _matters(node.then) or _matters(node.otherwise):
                return True
        else:
            return True
    return False
