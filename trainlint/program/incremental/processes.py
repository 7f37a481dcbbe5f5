"""Other processes that read files and check groups, and pass on what they find through the cache."""

from __future__ import annotations

import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from multiprocessing import get_context
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from trainlint import limits
from trainlint.errors import UsageError
from trainlint.program.incremental import workers
from trainlint.program.incremental.cache import Cache, Checked
from trainlint.program.source.reading import Read
from trainlint.project.bytes_on_disk import Contents
from trainlint.rules import brought

Result = TypeVar("Result")


class Processes:
    """A pool; results come in the order in which they are done.

    Args:
        paths: all files of the program, for the imports among them.
    """

    def __init__(self, jobs: int, paths: Sequence[str], contents: Contents, cache: Cache) -> None:
        self._jobs = jobs
        self._paths = paths
        self._contents = contents
        self._lasts = cache.lasts
        self._stack = ExitStack()
        self.cache = cache
        """What all of them share: the one that was given, or if that keeps nothing, one that goes with them."""

    def __enter__(self) -> Processes:
        if not self._lasts:
            folder = self._stack.enter_context(tempfile.TemporaryDirectory(prefix="trainlint-"))
            self.cache = Cache(Path(folder))
        assert self.cache.folder is not None
        self._folder = self.cache.folder.parent
        self._pool = self._stack.enter_context(_pool(self._jobs))
        self._pool.submit(workers.is_there)  # all of them start now
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, error, where)
        if isinstance(error, BrokenProcessPool):
            said = "a worker process died, perhaps for lack of memory: try again with --jobs 1"
            raise UsageError(said) from None

    def check_ahead(self, chunks: Iterable[list[str]]) -> Iterator[list[Read]]:
        """Read files that seem to be whole groups, and check those that are."""
        return _as_done(
            self._pool.submit(
                workers.check_ahead, self._texts(chunk), self._folder, self._paths, lasts=self._lasts
            )
            for chunk in chunks
        )

    def read(self, chunks: Iterable[list[str]]) -> Iterator[list[Read]]:
        """Read files."""
        return _as_done(
            self._pool.submit(workers.read_files, self._texts(chunk), self._folder, self._paths)
            for chunk in chunks
        )

    def check(self, groups: Sequence[tuple[str, list[Read]]]) -> Iterator[Checked]:
        """Check groups whose files have been read, each with the key under which its findings are kept.

        For a group that would keep one process busy when the others are done, that process makes copies of itself.
        """
        sizes = [sum(len(self._contents.get(read.path)) for read in group) for _, group in groups]
        share = sum(sizes) / self._jobs
        if sum(len(group) for _, group in groups) > limits.MANY_FILES:
            self._start_again(min(self._jobs, len(groups)))
        return _as_done(
            self._pool.submit(
                workers.check_read,
                key,
                [(read, self._missing(read)) for read in group],
                self._folder,
                lasts=self._lasts,
                copies=self._jobs if size > share / 2 else 0,
            )
            for (key, group), size in zip(groups, sizes, strict=True)
        )

    def _start_again(self, count: int) -> None:
        """Go on with other processes: what reading has left in the memory of these goes with them."""
        self._pool.shutdown()
        self._pool = self._stack.enter_context(_pool(count))

    def _missing(self, read: Read) -> bytes | None:
        """The bytes of a file, where the cache does not have it as read."""
        return None if self.cache.has_module(read.key) else self._contents.get(read.path)

    def _texts(self, paths: list[str]) -> list[workers.Text]:
        return [(path, self._contents.get(path)) for path in paths]


def _pool(jobs: int) -> ProcessPoolExecutor:
    """Processes that share what is imported by now, where that is safe; else they start from nothing."""
    alone = sys.platform == "linux" and threading.active_count() == 1
    return ProcessPoolExecutor(
        jobs,
        get_context("fork" if alone else "spawn"),
        initializer=workers.make_ready,
        initargs=(brought(),),
    )


def _as_done(tasks: Iterable[Future[Result]]) -> Iterator[Result]:
    """All tasks begin now."""
    return (task.result() for task in as_completed(list(tasks)))
