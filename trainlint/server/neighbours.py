"""Which files of a project a document has to be judged together with: those that import it, and what all of these import."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TypedDict

from trainlint.errors import UsageError
from trainlint.program.incremental.project_files import Files
from trainlint.project.files import DEFAULT_EXCLUDE, files_below, is_excluded
from trainlint.server.memory import Disk
from trainlint.server.settings import AllSettings
from trainlint.superseded import Superseded, is_still_wanted, while_wanted

_MOST_FILES = 5_000
"""Of a folder that is looked through: one that holds more is no project."""
_LONGEST_LOOK = 5
"""Seconds for that."""
_NEAR = 150_000
"""Bytes of source that are checked with a document at each keystroke."""
_IMPORT = re.compile(
    rb"^[ \t]*(?:from[ \t]+(?P<dots>\.*)(?P<module>[\w.]*)[ \t]+import[ \t]*(?P<names>\([^)]*\)|[^\r\n]*)"
    rb"|import[ \t]+(?P<modules>[\w., \t]+))",
    re.MULTILINE,
)
_NAME = re.compile(r"[^\W\d]\w*")
_OTHERS = frozenset(("site-packages", "dist-packages"))
"""Folders of code that is installed."""
Read = Callable[[str], bytes]


class _Scope(TypedDict):
    """What decides which files of a folder are looked at."""

    root: Path
    exclude: Sequence[str]
    respect_gitignore: bool


class Graph:
    """What the files of one folder import, as far as their bytes show it; of a file that changes, again."""

    def __init__(self, files: Sequence[str]) -> None:
        self.files = frozenset(files)
        self._finder = Files(dict.fromkeys(files))
        self._imports: dict[str, tuple[bytes, set[str]]] = {}

    def around(self, paths: Iterable[str], read: Read) -> set[str]:
        """These files, those that import them, and all that any of them imports."""
        return self._reached(self._importing(paths, read), lambda one: self._targets(one, read))

    def near(self, paths: Iterable[str], read: Read) -> set[str]:
        """These files, and of what they import the nearest: as much as can be checked between two keystrokes."""
        found: set[str] = set()
        room = _NEAR
        wave = set(paths)
        while wave:
            found |= wave
            imported = {target for one in wave for target in self._targets(one, read)} - found
            wave = set()
            for path in sorted(imported, key=lambda one: (_size(one, read), one)):
                room -= _size(path, read)
                if room < 0:
                    return found | wave
                wave.add(path)
        return found

    def _importing(self, paths: Iterable[str], read: Read) -> set[str]:
        importers: dict[str, list[str]] = {}
        for path in {*self.files, *paths}:
            for target in self._targets(path, read):
                importers.setdefault(target, []).append(path)
        return self._reached(paths, lambda one: importers.get(one, ()))

    def _reached(self, paths: Iterable[str], following: Callable[[str], Iterable[str]]) -> set[str]:
        found: set[str] = set()
        pending = list(paths)
        while pending:
            path = pending.pop()
            if path not in found:
                found.add(path)
                pending.extend(following(path))
        return found

    def _targets(self, path: str, read: Read) -> set[str]:
        try:
            data = read(path)
        except OSError:
            return set()
        known = self._imports.get(path)
        if known is None or known[0] is not data:
            is_still_wanted()
            known = self._imports[path] = data, set(self._finder.imported(path, _imports(data)))
        return known[1]


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
            yield graph.around(paths, read) if whole else graph.near(paths, read)

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
                found = list(islice(below, _MOST_FILES + 1))
        except Superseded:
            is_still_wanted()
            return []
        except UsageError as error:
            self._settings.complain(str(error))
            return []
        return found if len(found) <= _MOST_FILES else []

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


def _imports(data: bytes) -> Iterator[tuple[int, str, tuple[str, ...]]]:
    """What looks like an import statement: level, module, names."""
    for match in _IMPORT.finditer(data.replace(b"\r", b"\n")):
        if match["modules"] is None:
            names = match["names"].decode(errors="replace")
            yield len(match["dots"]), match["module"].decode(errors="replace"), tuple(_NAME.findall(names))
        else:
            for one in match["modules"].decode(errors="replace").split(","):
                yield 0, one.split(" as ")[0].strip(), ()
