"""What other processes do for a check. They hand modules and findings on through the cache."""

from __future__ import annotations

import gc
import signal
from collections.abc import Sequence
from pathlib import Path

from trainlint.program.incremental.cache import Cache, Checked
from trainlint.program.incremental.connected import connected
from trainlint.program.incremental.group import check
from trainlint.program.incremental.project_files import Files
from trainlint.program.source import reading
from trainlint.program.source import syntax as s
from trainlint.project.bytes_on_disk import Contents
from trainlint.rules import Brought, bring, import_rules

Text = tuple[str, bytes]
"""A path, and what is in the file."""


def make_ready(rules: Sequence[Brought]) -> None:
    """Leave Ctrl-C to the process that the user sees, and import what every check needs.

    Args:
        rules: those that are not trainlint's own.
    """
    bring(rules)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.disable()
    import_rules()


def is_there() -> None:
    """Nothing but to be called: what comes before the first task is done then."""


def read_files(chunk: Sequence[Text], folder: Path, known: Sequence[str]) -> list[reading.Read]:
    """Read some files."""
    cache, files = Cache(folder), Files(dict.fromkeys(known))
    found = []
    for path, data in chunk:
        one, module = reading.read(path, data, cache, files)
        reading.keep(one, module, cache)
        found.append(one)
    return found


def check_ahead(
    guess: Sequence[Text], folder: Path, known: Sequence[str], *, lasts: bool
) -> list[reading.Read]:
    """Read files that seem to be a whole group, and if all that they import is among them, check it at once.

    What was found is kept as that of a group; if others import these files after all, nobody asks for it. More is
    kept only if the cache `lasts`.
    """
    cache, files = Cache(folder), Files(dict.fromkeys(known))
    found = [(path, *reading.read(path, data, cache, files)) for path, data in guess]
    reads = {path: one for path, one, _ in found if one.problem is None}
    modules = {path: module for path, _, module in found if module is not None}
    whole = modules.keys() == reads.keys() and all(set(one.imports) <= reads.keys() for one in reads.values())
    for _, one, module in found:
        if lasts or not whole:
            reading.keep(one, module, cache)
    contents = Contents(dict(guess))
    for group in connected({path: one.imports for path, one in reads.items()}) if whole else ():
        key = cache.key(contents.fingerprints(group))
        check(key, [reads[path] for path in group], modules.get, cache, lasts=lasts)
    return [one for _, one, _ in found]


def check_read(
    key: str, group: Sequence[tuple[reading.Read, bytes | None]], folder: Path, *, lasts: bool, copies: int
) -> Checked:
    """Check a group whose files have been read before, with the help of so many copies of this process.

    Args:
        group: with the bytes of those that the cache lacks.
    """
    cache, texts = Cache(folder), {read.path: (read.key, data) for read, data in group}

    def module(path: str) -> s.Module | None:
        name, data = texts[path]
        found = cache.load_module(name)
        if found is None and data is None:  # the entry is damaged, or gone
            data = Contents({}).get(path)
        return found if data is None else reading.module(path, name, data, cache)

    return check(key, [read for read, _ in group], module, cache, lasts=lasts, copies=copies)
