"""The folder of the cache: marked as one, kept small, and removed when asked. What is not ours in it stays.

Several processes may work in it at once. Each of them may find that something has just gone, and goes on.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

MOST_BYTES = 500_000_000
"""How much is kept. Beyond it, what has not been used for the longest time goes."""
_UNUSED_FOR = 14 * 24 * 3600
"""Seconds after which an entry that no run has used is removed."""
_HALF_WRITTEN_FOR = 3600
"""Seconds after which nobody is still writing a temporary file."""
_ROOM = 0.8
"""How full the folder is left after something had to go."""

_MARKS = {
    ".gitignore": "*\n",
    "CACHEDIR.TAG": "Signature: 8a477f597d28d172789f06886806bc55\n# Made by trainlint; it may be removed at any time.\n",
}
_VERSION = re.compile(r"[0-9a-f]{16}")
_KIND = re.compile(r"[a-z]+")
_ENTRY = re.compile(r"(?P<temporary>\.?)[0-9a-f]{32}(?:\.\d+)?")


class _Entry(NamedTuple):
    path: str
    used: float
    size: int
    is_temporary: bool


class Removed(NamedTuple):
    """What `clean` has done: how many entries went, how large they were, and whether the folder is gone too."""

    entries: int
    size: int
    whole: bool


def mark(folder: Path) -> None:
    """Make the folder, and have git and backups pass it by."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in _MARKS.items():
        (folder / name).write_text(text)


def tidy(folder: Path) -> None:
    """Remove what no run has used for long, what other versions have left, and what there is no room for."""
    now = time.time()
    kept = []
    for entry in _entries(folder):
        unused = now - entry.used
        if unused > (_HALF_WRITTEN_FOR if entry.is_temporary else _UNUSED_FOR):
            _remove(entry)
        else:
            kept.append(entry)
    size = sum(entry.size for entry in kept)
    if size > MOST_BYTES:
        for entry in sorted(kept, key=lambda entry: entry.used):
            _remove(entry)
            size -= entry.size
            if size <= MOST_BYTES * _ROOM:
                break
    _remove_empty(folder)


def clean(folder: Path) -> Removed:
    """Remove all entries, and the folder itself unless something else lies in it."""
    removed = [entry for entry in _entries(folder) if _remove(entry)]
    _remove_empty(folder)
    left = {one.name for one in os.scandir(folder)} if folder.is_dir() else set()
    if left and left <= _MARKS.keys():
        for name in left:
            (folder / name).unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            folder.rmdir()
    return Removed(len(removed), sum(entry.size for entry in removed), not folder.exists())


def size_of(folder: Path) -> tuple[int, int]:
    """How many entries there are, and their bytes."""
    sizes = [entry.size for entry in _entries(folder)]
    return len(sizes), sum(sizes)


def _entries(folder: Path) -> Iterator[_Entry]:
    """Every file that a cache of some version has made."""
    for kind in _kinds(folder):
        for file in _listed(kind):
            name = _ENTRY.fullmatch(file.name)
            with contextlib.suppress(OSError):
                if name is not None and file.is_file(follow_symlinks=False):
                    status = file.stat(follow_symlinks=False)
                    yield _Entry(file.path, status.st_mtime, status.st_size, bool(name["temporary"]))


def _kinds(folder: Path) -> Iterator[str]:
    for version in _folders(str(folder), _VERSION):
        yield from _folders(version, _KIND)


def _folders(folder: str, named: re.Pattern[str]) -> Iterator[str]:
    for one in _listed(folder):
        if named.fullmatch(one.name) and one.is_dir(follow_symlinks=False):
            yield one.path


def _listed(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as listing:
            return list(listing)
    except OSError:
        return []


def _remove(entry: _Entry) -> bool:
    try:
        os.unlink(entry.path)
    except OSError:
        return False
    return True


def _remove_empty(folder: Path) -> None:
    """Folders of versions in which nothing is left. One that is not empty refuses to go."""
    for folders in (list(_kinds(folder)), list(_folders(str(folder), _VERSION))):
        for one in folders:
            with contextlib.suppress(OSError):
                os.rmdir(one)
