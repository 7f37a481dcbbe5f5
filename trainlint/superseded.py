"""Work that nobody waits for any more: it ends at the next file or entry point."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class Superseded(BaseException):
    """Raised in the middle of work that is no longer wanted. Like an interrupt, it is no error of the work."""


_wanted: ContextVar[Callable[[], bool] | None] = ContextVar("_wanted", default=None)


def is_still_wanted() -> None:
    """To be called now and then by long work. Raises Superseded."""
    ask = _wanted.get()
    if ask is not None and not ask():
        raise Superseded


@contextmanager
def while_wanted(ask: Callable[[], bool]) -> Iterator[None]:
    """What is done inside goes on only as long as `ask` says so, and whoever was asked before."""
    outer = _wanted.get()
    before = _wanted.set(ask if outer is None else lambda: outer() and ask())
    try:
        yield
    finally:
        _wanted.reset(before)
