"""Which optimizers and schedules a program gives to a framework that steps them, in all forms in which it may do so."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from trainlint.facts.api.classes import OPTIMIZER, SCHEDULER
from trainlint.facts.model.values import Constant, Items, Object, Table, Value, alternatives, constant


class Schedule(NamedTuple):
    """One schedule.

    Args:
        interval: when the framework steps it; None where it is not told.
        is_open: whether it is told in a way that cannot be seen.
        misplaced: what is said of the interval where the framework does not look for it.
        frequency: after how many of these it is stepped; None where it is not told.
    """

    scheduler: Value
    interval: Any
    is_open: bool
    misplaced: Any
    frequency: Value | None = None


def schedules(returns: Value) -> Iterator[Schedule]:
    """All schedules in what `configure_optimizers` returns."""
    for one in alternatives(returns):
        match one:
            case Table():
                yield from _of_optimizer(one)
            case Items(items=[Items(), Items() as several]):
                for held in several.items:
                    yield from _configured(held, None)
            case Items(items=several):
                for held in several:
                    for each in alternatives(held):
                        if isinstance(each, Table):
                            yield from _of_optimizer(each)


class Unread(NamedTuple):
    """A schedule beside an optimizer, under a key that no framework looks at."""

    key: str
    scheduler: Value


def unread_schedules(returns: Value) -> Iterator[Unread]:
    """The schedules in what `configure_optimizers` returns that the framework does not find: `{"optimizer": ..., "scheduler":
    ...}`."""
    for one in alternatives(returns):
        for held in one.items if isinstance(one, Items) else (one,):
            for table in alternatives(held):
                if isinstance(table, Table) and "optimizer" in table.entries and not table.others:
                    yield from _unread_in(table)


def _unread_in(table: Table) -> Iterator[Unread]:
    if "lr_scheduler" in table.entries:
        return
    for key, held in table.entries.items():
        if isinstance(key, str) and key not in _READ and (_NAMED.search(key) or _is_schedule(held)):
            yield Unread(key, held)


def _is_schedule(held: Value) -> bool:
    return any(
        "scheduler" in one.entries
        if isinstance(one, Table)
        else isinstance(one, Object) and one.is_a(SCHEDULER)
        for one in alternatives(held)
    )


_READ = frozenset(("optimizer", "lr_scheduler", "monitor", "frequency"))
"""What a framework looks at beside an optimizer."""
_NAMED = re.compile(r"^(lr_?)?sched(ule(rs?)?)?(_config)?$", re.IGNORECASE)


def optimizers(returns: Value) -> list[Object]:
    """The optimizers in what `configure_optimizers` returns, in their order, the same ones in whatever form; none where not all
    of them are in sight."""
    several = [_optimizers(one) for one in alternatives(returns)]
    return several[0] if several and all(one == several[0] for one in several) else []


def _optimizers(returns: Value) -> list[Object]:
    match returns:
        case Items(items=[Items(items=several), Items()]) | Items(items=several):
            held = several
        case _:
            held = [returns]
    found = [made for one in held if (made := _optimizer(one)) is not None]
    return found if len(found) == len(held) else []


def schedulers(returns: Value) -> list[Object]:
    """The schedulers in what `configure_optimizers` returns, in their order; none where not all of them are in sight."""
    match returns:
        case Items(items=[Items(), Items(items=several)]):
            held = several
        case Items(items=several):
            tables = [one for one in several if isinstance(one, Table)]
            held = [one.entries["lr_scheduler"] for one in tables if "lr_scheduler" in one.entries]
        case Table(entries={"lr_scheduler": only}):
            held = [only]
        case _:
            held = []
    found = [made for one in held if (made := _scheduler(one)) is not None]
    return found if len(found) == len(held) else []


def _scheduler(held: Value) -> Object | None:
    match held:
        case Table(entries={"scheduler": inner}):
            held = inner
    return held if isinstance(held, Object) else None


def _optimizer(held: Value) -> Object | None:
    match held:
        case Table(entries={"optimizer": inner}):
            held = inner
    return held if isinstance(held, Object) and held.is_a(OPTIMIZER) else None


def _of_optimizer(table: Table) -> Iterator[Schedule]:
    """`{"optimizer": optimizer, "lr_scheduler": scheduler}`."""
    held = table.entries.get("lr_scheduler")
    if held is not None and "optimizer" in table.entries:
        yield from _configured(held, constant(table.entries.get("interval")))


def _configured(held: Value, misplaced: Any) -> Iterator[Schedule]:
    for one in alternatives(held):
        match one:
            case Object() if one.is_a(SCHEDULER):
                yield Schedule(one, None, False, misplaced)
            case Table():
                asked = one.entries.get("interval")
                is_open = bool(one.others) or (asked is not None and not isinstance(asked, Constant))
                for scheduler in alternatives(one.entries.get("scheduler")):
                    yield Schedule(
                        scheduler, constant(asked), is_open, misplaced, one.entries.get("frequency")
                    )
