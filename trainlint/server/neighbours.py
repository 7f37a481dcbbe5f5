"""Which files of a project a document has to be judged together with: those that import it, and what all of these import."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TypedDict

from trainlint import limits
from trainlint.errors import UsageError
from trainlint.program.incremental.importers import Graph, Read
from trainlint.project.files import DEFAULT_EXCLUDE, files_below, is_excluded
from trainlint.server.memory import Disk
from trainlint.server.settings import AllSettings
from trainlint.superseded import Superseded, is_still_wanted, while_wanted

_LONGEST_LOOK = 5
"""Seconds for that."""
_NEAR = 150_000
"""Bytes of source that are checked with a document at each keystroke."""
_OTHERS = frozenset(("site-packages", "dist-packages"))
"""Folders of code that is installed."""


class _Scope(TypedDict):
    """What decides which files of a folder are looked at."""

    root: Path
    exclude: Sequence[str]
    respect_gitignore: bool


class Neighbours:
    """The graphs of the folders of a workspace. Documents outside of all of them are judged by what they import."""

    def __init__(self, disk: Disk, settings: AllSettings) -> None:
        self._disk = disk
        self._settings = settings
        self._graphs: dict[str, Graph] = {}
        self._age = 0
        self._listed_at: dict[str, int] = {}
        """The age of each graph's list of files."""

    def files_have_changed(self) -> None:
        """Some may have come or gone. May be called in any thread."""
        self._age += 1

    def programs(
        self, texts: Mapping[str, bytes], folders: Iterable[str], *, whole: bool
    ) -> Iterator[set[str]]:
        """The files of each folder that have to be read together with these documents. Raises Superseded.

        Args:
            whole: with those that import them, and all that any of these imports.
        """

        def read(path: str) -> bytes:
            return texts[path] if path in texts else self._disk.read(path)

        together: dict[str | None, list[str]] = {}
        for path in texts:
            together.setdefault(_folder_of(path, folders), []).append(path)
        for folder, paths in together.items():
            graph = self._graph(folder, whole)
            yield graph.around(paths, read) if whole else near(graph, paths, read)

    def _graph(self, folder: str | None, whole: bool) -> Graph:
        if folder is None:
            return Graph(())
        if whole and self._listed_at.get(folder) != self._age:
            age = self._age
            files = self._listed(folder)
            if folder not in self._graphs or self._graphs[folder].files != frozenset(files):
                self._graphs[folder] = Graph(files)
            self._listed_at[folder] = age
        return self._graphs.get(folder) or Graph(())

    def is_excluded(self, path: str, folders: Iterable[str]) -> bool:
        """Whether the configuration, or git, keeps a document from being checked. Others' code is never."""
        folder = _folder_of(path, folders)
        if folder is None:
            return not _OTHERS.isdisjoint(path.split(os.sep))
        try:
            return is_excluded(path, folder, **self._scope(folder))
        except UsageError as error:
            self._settings.complain(str(error))
            return False

    def _listed(self, folder: str) -> list[str]:
        """The Python files of a folder; none if there are too many."""
        end = time.monotonic() + _LONGEST_LOOK
        try:
            with while_wanted(lambda: time.monotonic() < end):
                below = (path for path in files_below(folder, **self._scope(folder)) if path.endswith(".py"))
                found = list(islice(below, limits.PROJECT_FILES + 1))
        except Superseded:
            is_still_wanted()
            return []
        except UsageError as error:
            self._settings.complain(str(error))
            return []
        return found if len(found) <= limits.PROJECT_FILES else []

    def _scope(self, folder: str) -> _Scope:
        config = self._settings.of(os.path.join(folder, "")).config
        exclude = DEFAULT_EXCLUDE if config.exclude is None else config.exclude
        return _Scope(
            root=config.root,
            exclude=(*exclude, *config.extend_exclude),
            respect_gitignore=config.respect_gitignore,
        )


def _size(path: str, read: Read) -> int:
    try:
        return len(read(path))
    except OSError:
        return 0


def _folder_of(path: str, folders: Iterable[str]) -> str | None:
    """The innermost folder that a file is in."""
    around = [one for one in folders if path.startswith(os.path.join(one, ""))]
    return max(around, key=len, default=None)


def near(graph: Graph, paths: Iterable[str], read: Read) -> set[str]:
    """These files, and of what they import the nearest: as much as can be checked between two keystrokes."""
    found: set[str] = set()
    room = _NEAR
    wave = set(paths)
    while wave:
        found |= wave
        imported = {target for one in wave for target in graph.imported(one, read)} - found
        wave = set()
        for path in sorted(imported, key=lambda one: (_size(one, read), one)):
            room -= _size(path, read)
            if room < 0:
                return found | wave
            wave.add(path)
    return found
