"""Do something again whenever Python code, a notebook or a configuration changes, until Ctrl-C."""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from trainlint.errors import UsageError
from trainlint.output.printable import printable
from trainlint.output.writing import complain, write
from trainlint.project.files import DEFAULT_EXCLUDE, SUFFIXES, shown_path

_NAMES = frozenset(("trainlint.toml", "pyproject.toml", ".gitignore"))
_EXCLUDED = frozenset(DEFAULT_EXCLUDE)
_OFTEN = 250
"""Milliseconds after which the watcher says that nothing has happened; the first time, that it is running."""
_CLEAR = "\x1b[H\x1b[2J\x1b[3J"


def watch(paths: Sequence[str], files: Sequence[Path], once: Callable[[], object], *, quiet: bool) -> None:
    """Call `once` now, and again after each change.

    Args:
        paths: what is checked; what lies beside a file may change what is found in it.
        files: others to watch, wherever they are.

    Raises UsageError where files cannot be watched, or where the first call raises it. A later one that cannot be
    done is said, and the next change tried: a file may be half edited.
    """
    changes = _changes(_folders(paths), [str(file) for file in files if file.is_file()])
    next(changes)
    once()
    _say("Watching for changes; Ctrl-C ends.", quiet)
    for changed in changes:
        if not changed:
            continue
        if sys.stdout.isatty():
            write(_CLEAR, sys.stdout)
        _say(f"{time.strftime('%H:%M:%S')} {_named(changed)} changed.", quiet)
        try:
            once()
        except UsageError as error:
            complain(str(error))
        gc.collect()


def _changes(folders: Sequence[str], files: Sequence[str]) -> Iterator[list[str]]:
    """The files that have changed; an empty list now and then where none has."""
    try:
        import watchfiles
    except ImportError as error:
        raise UsageError("--watch needs watchfiles: pip install 'trainlint[watch]'") from error
    try:
        for changes in watchfiles.watch(
            *folders,
            *files,
            watch_filter=lambda _, path: matters(path, folders),
            rust_timeout=_OFTEN,
            yield_on_timeout=True,
            raise_interrupt=True,
        ):
            yield sorted({shown_path(path) for _, path in changes})
    except OSError as error:
        raise UsageError(f"files cannot be watched here: {error}") from error


def matters(path: str, folders: Sequence[str]) -> bool:
    """Whether a file of this name may change what is found. What no check enters does not."""
    ways = [os.path.relpath(path, folder).split(os.sep) for folder in folders]
    inside = [parts for parts in ways if parts[0] != os.pardir]
    if inside and all(_EXCLUDED.intersection(parts) for parts in inside):
        return False
    name = os.path.basename(path)
    return name in _NAMES or (name.endswith(SUFFIXES) and bool(inside))


def _folders(paths: Sequence[str]) -> list[str]:
    """Folders to watch. A file that is replaced, as editors do, is seen from its folder alone."""
    folders = (path if os.path.isdir(path) else os.path.dirname(path) for path in paths)
    return sorted({folder if os.path.isdir(folder) else "." for folder in folders})


def _named(changed: Sequence[str]) -> str:
    more = len(changed) - 1
    return printable(changed[0]) + (f" and {more} more" if more else "")


def _say(text: str, quiet: bool) -> None:
    if not quiet:
        write(f"{text}\n", sys.stderr)
