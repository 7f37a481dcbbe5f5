"""A program in groups of files that import each other, read and evaluated in as many processes as help."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from trainlint import limits
from trainlint.finding import Finding, Problem
from trainlint.program.incremental.cache import Cache, Checked
from trainlint.program.incremental.connected import connected
from trainlint.program.incremental.group import check
from trainlint.program.incremental.project_files import Files
from trainlint.program.incremental.shards import Shard
from trainlint.program.source import prefilter, reading
from trainlint.program.source import syntax as s
from trainlint.program.source.room import uncollected
from trainlint.program.source.storage import compact
from trainlint.project.bytes_on_disk import Contents
from trainlint.reached import Reached
from trainlint.superseded import is_still_wanted

if TYPE_CHECKING:
    from trainlint.program.incremental.processes import Processes

Progress = Callable[[int, int], None] | None

_WORTH_A_POOL = 400_000
"""Bytes of source below which starting processes costs more than it saves."""
_TASKS_EACH = 8
"""Into how many tasks the reading of one process is cut, so that all are done at about the same time."""
_ROUNDS = 3
"""How many tasks of the present size one process would have left, where they become smaller."""
_SMALLEST_TASK = 20_000
"""Bytes of source that are checked in less than a tenth of a second."""


def check_program(
    paths: Sequence[str],
    contents: Contents,
    cache: Cache,
    jobs: int | None,
    progress: Progress,
    beside: Sequence[str] = (),
    shard: Shard | None = None,
    enters_imported: bool = True,
) -> Checked:
    """Read what matters of these files and of what they import, and let the rules look at it.

    Args:
        beside: files that are read with them, and that nobody has asked about.
        shard: the part of it that is judged now; None for all.
        enters_imported: whether classes and functions are entered that only imported files have, and that nothing calls.
    """
    with uncollected():  # what is made lives until the end
        return _Program(paths, beside, contents, cache, jobs, progress, shard, enters_imported).check()


class _Program:
    def __init__(
        self,
        paths: Sequence[str],
        beside: Sequence[str],
        contents: Contents,
        cache: Cache,
        jobs: int | None,
        progress: Progress,
        shard: Shard | None,
        enters_imported: bool,
    ) -> None:
        self._paths = paths
        self._all = [*paths, *beside]
        self._entered = None if enters_imported else frozenset(self._all)
        self._contents = contents
        self._cache = cache
        self._progress = progress
        self._files = Files(dict.fromkeys(self._all))
        self._read: dict[str, reading.Read] = {}
        self._modules: dict[str, s.Module] = {}
        self._problems: list[Problem] = []
        processors = os.cpu_count() or 1
        self._jobs = processors if jobs is None else min(jobs, limits.PROCESSES_PER_CPU * processors)
        self._lasts = cache.lasts
        """Whether what is found now is kept for later runs."""
        self._done = 0
        self._shard = shard
        self._not_here: set[str] = set()
        """Files that another part judges."""

    def check(self) -> Checked:
        wanted = prefilter.worth_reading(self._all, self._contents, self._files)
        self._unreadable(path for path in self._paths if not self._contents.hash(path))
        size = sum(len(self._contents.get(path)) for path in wanted if not self._is_read(path))
        if self._jobs > 1 and size > _WORTH_A_POOL:
            return self._in_processes(wanted)
        self._read_all(wanted | self._unsound(wanted), None)
        return self._collect(self._evaluated(None))

    def _is_read(self, path: str) -> bool:
        """Whether an earlier run has read this very content."""
        return self._cache.knows("imports", reading.key(self._contents.get(path), self._cache))

    def _in_processes(self, wanted: set[str]) -> Checked:
        from trainlint.program.incremental.processes import Processes

        with Processes(self._jobs, self._all, self._contents, self._cache) as processes:
            self._cache = processes.cache
            ahead: tuple[Iterable[list[reading.Read]], int] = (
                self._look_ahead(wanted, processes) if self._shard is None else ((), 0)
            )
            self._read_all(self._unsound(wanted), None)  # while others are busy
            self._note_all(*ahead)
            self._read_all(wanted - self._read.keys(), processes)
            return self._collect(self._evaluated(processes))

    def _unsound(self, wanted: set[str]) -> set[str]:
        """Of the other files, those that there is something to say of."""
        return prefilter.unsound(
            (path for path in self._paths if path not in wanted), self._contents, self._cache
        )

    def _unreadable(self, paths: Iterator[str]) -> None:
        for path in paths:
            try:
                self._contents.get(path)
            except OSError as error:
                self._problems.append(Problem(path, None, f"cannot be read: {error.strerror or error}"))

    # Reading

    def _look_ahead(self, wanted: set[str], processes: Processes) -> tuple[Iterator[list[reading.Read]], int]:
        """Have groups, as far as their bytes show them, read and checked by one process each.

        A group that would keep one process busy while the others wait is left to be read by all of them. The tasks
        become smaller towards the end, so that all are done at about the same time.
        """
        sizes = [(sum(map(self._size, group)), group) for group in self._guessed(wanted)]
        share = sum(size for size, _ in sizes) / self._jobs
        alone = [one for one in sizes if one[0] <= share / 2 and not all(map(self._is_read, one[1]))]
        left = sum(size for size, _ in alone)
        chunks: list[list[str]] = []
        room = 0.0
        for size, group in sorted(alone, reverse=True):
            if room < size:
                chunks.append([])
                room = max(left / self._jobs / _ROUNDS, _SMALLEST_TASK)
            chunks[-1].extend(group)
            room -= size
            left -= size
        return processes.check_ahead(chunks), len(chunks)

    def _guessed(self, wanted: set[str]) -> list[list[str]]:
        """Groups by the imports that can be seen in the bytes of files."""
        imports: dict[str, set[str]] = {}
        pending = sorted(wanted)
        while pending:
            path = pending.pop()
            if path not in imports and self._contents.hash(path):
                imports[path] = prefilter.imports(path, self._contents.get(path), self._files)
                pending.extend(imports[path])
        return connected(imports)

    def _read_all(self, wanted: set[str], processes: Processes | None) -> None:
        """Read files, then the files that those import, until there are no more."""
        while wanted:
            before = set(self._read)
            self._read_wave(sorted(path for path in wanted if self._contents.hash(path)), processes)
            new = [self._read[path] for path in self._read.keys() - before]
            wanted = {target for one in new for target in one.imports} - self._read.keys() - wanted

    def _read_wave(self, paths: list[str], processes: Processes | None) -> None:
        if processes is None or len(paths) < 2 * self._jobs:
            for path in paths:
                self._note(self._read_one(path))
                self._step(len(paths))
            return
        size = max(1, len(paths) // (self._jobs * _TASKS_EACH))
        chunks = [paths[start : start + size] for start in range(0, len(paths), size)]
        self._note_all(processes.read(chunks), len(chunks))

    def _note_all(self, results: Iterable[list[reading.Read]], total: int) -> None:
        for result in results:
            for one in result:
                self._note(one)
                self._look_for_imports(one)
            self._step(total)

    def _note(self, found: reading.Read) -> None:
        self._read[found.path] = found
        if found.problem is not None:
            self._problems.append(found.problem)

    def _look_for_imports(self, found: reading.Read) -> None:
        """What is kept follows from what is absent too, and another process has looked for it."""
        if self._lasts:
            reading.look_for(found, self._cache, self._files)

    def _size(self, path: str) -> int:
        return len(self._contents.get(path))

    def _read_one(self, path: str) -> reading.Read:
        found, module = reading.read(path, self._contents.get(path), self._cache, self._files)
        reading.keep(found, module, self._cache)
        if module is not None:
            self._modules[path] = compact(module) if len(self._all) > limits.MANY_FILES else module
        return found

    def _step(self, total: int) -> None:
        is_still_wanted()
        self._done += 1
        if self._progress is not None:
            self._progress(self._done, max(self._done, total))

    # Evaluating

    def _evaluated(self, processes: Processes | None) -> Iterator[Checked]:
        pending = []
        for group in self._groups():
            key = self._cache.key((path, self._contents.hash(path)) for path in group)
            kept = self._cache.load_findings("groups", key)
            if kept is not None:
                yield kept
            elif processes is None:
                is_large = self._jobs > 1 and sum(map(self._size, group)) > _WORTH_A_POOL
                yield check(
                    key,
                    [self._read[path] for path in group],
                    self._module,
                    self._cache,
                    lasts=self._lasts,
                    copies=self._jobs if is_large else 0,
                    entered=self._entered,
                )
            else:
                pending.append((key, [self._read[path] for path in group]))
        if processes is None:
            return
        pending.sort(key=lambda one: -sum(self._size(read.path) for read in one[1]))
        for checked in processes.check(pending):
            self._step(self._done + len(pending))
            yield checked

    def _module(self, path: str) -> s.Module | None:
        if path not in self._modules:
            found = reading.module(path, self._read[path].key, self._contents.get(path), self._cache)
            if found is None:
                return None
            self._modules[path] = found
        return self._modules[path]

    def _groups(self) -> list[list[str]]:
        """Those that are judged here."""
        every = connected({path: one.imports for path, one in self._read.items() if one.problem is None})
        if self._shard is None:
            return every
        own = self._shard.groups(every, self._size)
        self._not_here = self._shard.not_here(self._paths, every, own)
        return own

    def _collect(self, results: Iterator[Checked]) -> Checked:
        asked = set(self._paths)
        reached = self._imported(asked)
        found: dict[tuple[str, object], Finding] = {}
        imported: dict[tuple[str, object], Finding] = {}
        limited: set[Reached] = set()
        entry_points = 0
        for checked in results:
            entry_points += checked.entry_points
            limited.update(one for one in checked.limited if one.path in asked)
            self._problems.extend(one for one in checked.problems if one.path in asked)
            for one in checked.findings:
                concerns = any(
                    place.path in asked for place in (one.at, *(reason.at for reason in one.because))
                )
                if concerns or one.at.path in reached:
                    into = found if concerns else imported
                    known = into.setdefault((one.code, one.at), one)
                    into[one.code, one.at] = known.agreed(one)
        self._cache.tidy()
        others = sorted(path for path in self._read if path not in asked)
        return Checked(
            tuple(sorted(found.values(), key=lambda one: (one.at, one.code))),
            tuple(sorted({one for one in self._problems if one.path in asked - self._not_here}, key=str)),
            tuple(self._contents.fingerprints(others)),
            self._files.absent,
            tuple(sorted(limited)),
            tuple(
                sorted(
                    (imported[key] for key in imported.keys() - found.keys()),
                    key=lambda one: (one.at, one.code),
                )
            ),
            entry_points,
            tuple(sorted(self._not_here)),
        )

    def _imported(self, asked: set[str]) -> set[str]:
        """What these files import, directly or not."""
        found: set[str] = set()
        pending = list(asked)
        while pending:
            read = self._read.get(pending.pop())
            new = set(read.imports) - found if read is not None else set()
            found |= new
            pending.extend(new)
        return found - asked
