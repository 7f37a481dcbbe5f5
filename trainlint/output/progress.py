"""A progress bar for people who wait."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

Progress = Callable[[int, int], None]
"""Told how many files are done, of how many."""

_PATIENCE = 1.0  # seconds without a bar


@contextmanager
def progress_bar(*, wanted: bool) -> Iterator[Progress | None]:
    """A bar on standard error where that is a terminal, once the work takes longer than a second."""
    if not wanted or not sys.stderr.isatty():
        yield None
        return
    began = time.perf_counter()
    move: Progress | None = None

    def progress(done: int, total: int) -> None:
        nonlocal move
        if move is None and done < total and time.perf_counter() - began > _PATIENCE:
            move = _bar(stack)
        if move is not None:
            move(done, total)

    with ExitStack() as stack:
        yield progress


def _bar(stack: ExitStack) -> Progress:
    from rich.console import Console
    from rich.progress import Progress as Bar

    bar = stack.enter_context(Bar(console=Console(stderr=True), transient=True))
    task = bar.add_task("checking")
    return lambda done, total: bar.update(task, completed=done, total=total)
