"""Collectives that only the first rank calls: it waits for the others, which never come."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainlint.facts.api.frameworks import LIGHTNING
from trainlint.facts.api.noted import COLLECTIVES
from trainlint.facts.model.events.calls import Called
from trainlint.facts.model.events.event import Escape, Event
from trainlint.facts.model.events.frameworks import Gathered
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object
from trainlint.finding import Finding

from .one_rank import asks_for_rank

_OF_FIRST = frozenset(("is_global_zero", "is_main_process"))
"""Attributes of a trainer, and of accelerate's helper, that only hold on the first rank."""


def alone(training: Training) -> Iterator[Finding]:
    """The other ranks do nothing that is not in sight, and call no collective of their own meanwhile."""
    collectives = [one for one in _events(training) if _is_collective(one)]
    if not collectives or any(map(_is_of_others, (*collectives, *training.events(Escape)))):
        return
    for one in collectives:
        if any(_asks_for_first(condition) for condition, _ in one.guards):
            yield Finding(
                one.at,
                "Only rank 0 calls this, and it returns once all ranks have called it: with more than one, rank 0 waits "
                "forever. Call it on every rank, and let rank 0 alone use the result.",
                confidence="likely",
                doubt="code that is not in sight may call it on the other ranks",
            )


def _events(training: Training) -> Iterator[Event]:
    yield from training.events(Called)
    yield from training.events(Gathered)


def _is_collective(event: Event) -> bool:
    """Whether it is a call that all ranks take part in, and not only those of a group."""
    match event:
        case Called(options={"group": _}):
            return False
        case Called(name="all_gather", args=(Object() as module, *_)):
            return module.is_a(LIGHTNING)
        case Called():
            before_group = 0 if event.name.endswith("barrier") else 2
            return event.name in COLLECTIVES and len(event.args) <= before_group
    return isinstance(event, Gathered)


def _is_of_others(event: Event) -> bool:
    """Whether something only happens on other ranks than the first, which may take part in what that does."""
    return any(not outcome and _asks_for_first(condition) for condition, outcome in event.guards)


def _asks_for_first(condition: Any) -> bool:
    match condition:
        case ("getattr", _, str(name)):
            return name.strip("'") in _OF_FIRST
    return asks_for_rank(condition)
