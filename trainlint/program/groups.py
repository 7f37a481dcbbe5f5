"""A program in groups of files that import each other, read and evaluated in as many processes as help."""

from __future__ import annotations

import gc
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from trainlint.bytes_on_disk import Contents
from trainlint.cache import Cache, Checked
from trainlint.finding import Finding, Problem
from trainlint.judging import judged
from trainlint.program import sieve
from trainlint.program import syntax as s
from trainlint.program.evaluator import Evaluator
from trainlint.program.loading import load
from trainlint.program.project import Files, Project
from trainlint.program.roots import trainings
from trainlint.usage_error import UsageError

Progress = Callable[[int, int], None] | None

_WORTH_A_POOL = 400_000
"""Bytes of source below which starting processes costs more than it saves."""

_DEEP = 8_000
"""Python frames that evaluating may nest: a few for each call and each nested expression."""


@dataclass(frozen=True)
class _Read:
    """What is known of a file once it has been read; its module itself lies in the cache."""

    path: str
    key: str
    imports: tuple[str, ...]
    problem: Problem | None = None


def check_program(
    paths: Sequence[str], contents: Contents, cache: Cache, jobs: int | None, progress: Progress
) -> Checked:
    """Read what matters of these files and of what they import, and let the rules look at it."""
    return _Program(paths, contents, cache, jobs, progress).check()


class _Program:
    def __init__(
        self, paths: Sequence[str], contents: Contents, cache: Cache, jobs: int | None, progress: Progress
    ) -> None:
        self._paths = paths
        self._contents = contents
        self._cache = cache
        self._progress = progress
        self._files = Files(dict.fromkeys(paths))
        self._read: dict[str, _Read] = {}
        self._modules: dict[str, s.Module] = {}
        self._problems: list[Problem] = []
        self._jobs = jobs if jobs is not None else os.cpu_count() or 1
        self._done = 0

    def check(self) -> Checked:
        wanted = sieve.worth_reading(self._paths, self._contents, self._files, self._cache)
        self._unreadable(path for path in self._paths if not self._contents.hash(path))
        size = sum(len(self._contents.get(path)) for path in wanted if not self._is_read(path))
        if self._jobs > 1 and size > _WORTH_A_POOL:
            try:
                return self._in_processes(wanted)
            except BrokenProcessPool:
                said = "a worker process died, perhaps for lack of memory: try again with --jobs 1"
                raise UsageError(said) from None
        self._read_all(wanted, None)
        return self._collect(self._evaluated(None))

    def _is_read(self, path: str) -> bool:
        """Whether an earlier run has read this very content."""
        return self._cache.knows("imports", _key(self._contents.get(path), self._cache))

    def _in_processes(self, wanted: set[str]) -> Checked:
        with ExitStack() as stack:
            if self._cache.folder is None:  # processes hand modules on through files
                folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="trainlint-"))
                self._cache = Cache(Path(folder))
            pool = stack.enter_context(_pool(self._jobs))
            self._read_all(wanted, pool)
            return self._collect(self._evaluated(pool))

    def _unreadable(self, paths: Iterator[str]) -> None:
        for path in paths:
            try:
                self._contents.get(path)
            except OSError as error:
                self._problems.append(Problem(path, None, f"cannot be read: {error.strerror or error}"))

    # Reading

    def _read_all(self, wanted: set[str], pool: ProcessPoolExecutor | None) -> None:
        """Read files, then the files that those import, until there are no more."""
        while wanted:
            found = self._read_wave(sorted(wanted), pool)
            for one in found:
                self._read[one.path] = one
                if one.problem is not None:
                    self._problems.append(one.problem)
            wanted = {target for one in found for target in one.imports} - self._read.keys()

    def _read_wave(self, paths: list[str], pool: ProcessPoolExecutor | None) -> list[_Read]:
        known = [path for path in paths if self._contents.hash(path)]
        found: list[_Read] = []
        if pool is None or len(known) < 2 * self._jobs:
            for path in known:
                found.append(self._read_one(path))
                self._step(len(known))
            return found
        size = max(1, len(known) // (self._jobs * 8))
        chunks = [known[start : start + size] for start in range(0, len(known), size)]
        folder = self._cache.folder
        assert folder is not None
        tasks = [
            pool.submit(
                _read_files, [(one, self._contents.get(one)) for one in chunk], folder.parent, self._paths
            )
            for chunk in chunks
        ]
        for task in as_completed(tasks):
            found.extend(task.result())
            self._step(len(tasks))
        return found

    def _read_one(self, path: str) -> _Read:
        found, module = _read_file(path, self._contents.get(path), self._cache, self._files)
        if module is not None:
            self._modules[path] = module
        return found

    def _step(self, total: int) -> None:
        self._done += 1
        if self._progress is not None:
            self._progress(self._done, max(self._done, total))

    # Evaluating

    def _evaluated(self, pool: ProcessPoolExecutor | None) -> Iterator[Checked]:
        pending = []
        for group in self._groups():
            key = self._cache.key((path, self._contents.hash(path)) for path in group)
            kept = self._cache.load_findings("groups", key)
            if kept is not None:
                yield kept
            elif pool is None:
                modules = {path: self._module(path) for path in group}
                checked = check_group({path: one for path, one in modules.items() if one is not None})
                self._cache.save_findings("groups", key, checked)
                yield checked
            else:
                pending.append((key, group))
        if pool is None or not pending:
            return
        folder = self._cache.folder
        assert folder is not None
        pending.sort(key=lambda one: -sum(len(self._contents.get(path)) for path in one[1]))
        tasks = [
            pool.submit(
                _check_group,
                key,
                [(path, self._read[path].key, self._contents.get(path)) for path in group],
                folder.parent,
            )
            for key, group in pending
        ]
        for task in as_completed(tasks):
            self._step(self._done + len(tasks))
            yield task.result()

    def _module(self, path: str) -> s.Module | None:
        if path not in self._modules:
            found = _module(path, self._read[path].key, self._contents.get(path), self._cache)
            if found is None:
                return None
            self._modules[path] = found
        return self._modules[path]

    def _groups(self) -> list[list[str]]:
        """Files that import each other, directly or not."""
        near: dict[str, set[str]] = {path: set() for path, one in self._read.items() if one.problem is None}
        for path in near:
            for target in self._read[path].imports:
                if target in near:
                    near[path].add(target)
                    near[target].add(path)
        groups: list[list[str]] = []
        seen: set[str] = set()
        for path in sorted(near):
            if path in seen:
                continue
            group, pending = [], [path]
            seen.add(path)
            while pending:
                one = pending.pop()
                group.append(one)
                pending.extend(near[one] - seen)
                seen |= near[one]
            groups.append(sorted(group))
        return groups

    def _collect(self, results: Iterator[Checked]) -> Checked:
        asked = set(self._paths)
        found: dict[tuple[str, object], Finding] = {}
        for checked in results:
            self._problems.extend(one for one in checked.problems if one.path in asked)
            for one in checked.findings:
                if one.at.path in asked:
                    found.setdefault((one.code, one.at), one)
        self._cache.tidy()
        others = sorted(path for path in self._read if path not in asked)
        return Checked(
            tuple(sorted(found.values(), key=lambda one: (one.at, one.code))),
            tuple(sorted({one for one in self._problems if one.path in asked}, key=str)),
            tuple(self._contents.fingerprints(others)),
        )


def check_group(modules: dict[str, s.Module]) -> Checked:
    """Evaluate files that belong together, and let every rule look at what happens in them."""
    collecting = gc.isenabled()
    gc.disable()  # values only grow until the group is done
    depth = sys.getrecursionlimit()
    sys.setrecursionlimit(max(depth, _DEEP))
    found: dict[tuple[str, object], Finding] = {}
    problems: dict[Problem, None] = {}
    try:
        for training in trainings(Evaluator(Project(modules)), sorted(modules), problems):
            for one in judged(training, problems):
                found.setdefault((one.code, one.at), one)
    finally:
        sys.setrecursionlimit(depth)
        if collecting:
            gc.enable()
    return Checked(tuple(found.values()), tuple(problems))


# In other processes


def _pool(jobs: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(jobs, get_context("spawn"), initializer=_quiet)


def _quiet() -> None:
    """Leave Ctrl-C to the process that the user sees."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.disable()


def _read_file(path: str, data: bytes, cache: Cache, files: Files) -> tuple[_Read, s.Module | None]:
    """What a file imports, and the file as read, where that had to be done now."""
    key = _key(data, cache)
    imports, module = cache.load_imports(key), None
    if imports is None:
        loaded = load(path, data)
        if isinstance(loaded, Problem):
            return _Read(path, key, (), loaded), None
        module, imports = loaded, loaded.imports
        cache.save_module(key, module)
        cache.save_imports(key, imports)
    return _Read(path, key, tuple(sorted(set(files.imported(path, imports))))), module


def _key(data: bytes, cache: Cache) -> str:
    return cache.key([("", Contents({"": data}).hash(""))])


def _read_files(chunk: list[tuple[str, bytes]], folder: Path, known: Sequence[str]) -> list[_Read]:
    cache, files = Cache(folder), Files(dict.fromkeys(known))
    return [_read_file(path, data, cache, files)[0] for path, data in chunk]


def _check_group(key: str, group: list[tuple[str, str, bytes]], folder: Path) -> Checked:
    cache = Cache(folder)
    modules = {path: _module(path, stored, data, cache) for path, stored, data in group}
    checked = check_group({path: one for path, one in modules.items() if one is not None})
    cache.save_findings("groups", key, checked)
    return checked


def _module(path: str, key: str, data: bytes, cache: Cache) -> s.Module | None:
    """A file that has been read, from the cache, or again where that could not keep it."""
    found = cache.load_module(key) or load(path, data)
    return found if isinstance(found, s.Module) else None
