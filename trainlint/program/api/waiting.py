"""Results that a program waits for: of threads in a pool, and of coroutines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainlint.facts.model.values import Items, Object, Table, Value
from trainlint.program.api import builtin
from trainlint.program.evaluate.values import Arguments, Library, Partial
from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator

_POOLS = frozenset(
    (
        "concurrent.futures.ThreadPoolExecutor",
        "multiprocessing.pool.ThreadPool",
        "multiprocessing.dummy.Pool",
    )
)
"""Pools of threads. Those of processes work on copies."""

_GIVEN_BACK = "given back()"


def pool(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value:
    return ev.object(name, frozenset((name,)), at, given)


def method(ev: Evaluator, value: Object, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    """`pool.submit(function, x)`, `pool.map(function, items)`; None for any other method."""
    if value.type not in _POOLS or not given.args:
        return None
    if name in ("map", "imap"):
        return builtin.call(ev, "map", Arguments(given.args[:2]), at, text)
    if name == "submit":
        made = ev.call(given.args[0], Arguments(given.args[1:], given.options, given.open), at, text)
        return Table(
            entries={"result": Partial(function=Library(name=_GIVEN_BACK), args=(made,))}, loops=ev.loops
        )
    return None


def _first(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    return given.args[0] if given.args else None


def _together(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    return None if given.open else Items(items=list(given.args))


def _in_any_order(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    match given.args[:1]:
        case (Items(items=items),):
            return Items(kind="generator", items=list(items), exact=False)
        case (Table(entries=entries),):  # by the futures themselves
            return Items(kind="generator", items=list(entries.values()), exact=False)
    return None


def _called(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    if not given.args:
        return None
    return ev.call(given.args[0], Arguments(given.args[1:], given.options, given.open), at, text)


WAITING = {
    **dict.fromkeys(_POOLS, pool),
    _GIVEN_BACK: _first,
    "concurrent.futures.as_completed": _in_any_order,
    **dict.fromkeys(
        (f"asyncio.{name}" for name in ("run", "create_task", "ensure_future", "wait_for", "shield")), _first
    ),
    "asyncio.gather": _together,
    "asyncio.to_thread": _called,
}
"""What these do; a result of None is that of any other call."""
