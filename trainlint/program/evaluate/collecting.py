"""Python's collector, which stands still during a check: a group of thousands of entry points needs it after all."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from trainlint import limits


@contextmanager
def collected(are_many: bool, forget: Callable[[], None]) -> Iterator[Callable[[], None]]:
    """What many entry points leave is collected on the way, what was there before is not looked at again.

    Yields what is to be called after each of them.

    Args:
        forget: called before each collection.
    """
    if not are_many:
        yield lambda: None
        return
    left = limits.ENTRIES_PER_COLLECTION

    def collect() -> None:
        nonlocal left
        left -= 1
        if left == 0:
            left = limits.ENTRIES_PER_COLLECTION
            forget()
            gc.collect()

    gc.collect()
    gc.freeze()
    try:
        yield collect
    finally:
        gc.unfreeze()
