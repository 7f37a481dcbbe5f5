"""Findings in code that the project holds and does not use: true, but nothing that runs is wrong yet, so they are information.

A class or function is unused if its name stands nowhere in the project but in itself and in what is unused too, while the
rest of its file is in use; a whole file, if it does nothing when it is run and nothing names it, in a project whose other files
are imported; a method, if its name stands nowhere else. Where half of a program is missing, nothing can be told, so a project
has to be large enough; and of a package, others may use any file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from trainlint import limits
from trainlint.check.definitions import Definition, beside, definitions, trains, uncalled_methods, within
from trainlint.check.naming import (
    CODE,
    WORD,
    imports,
    may_mean,
    module_name,
    names,
    stem,
    what_runs,
    without_imports,
)
from trainlint.check.project_texts import ProjectTexts
from trainlint.check.whole_files import hangs_together, has_twin, is_apart, is_of_a_package
from trainlint.finding import Because, Finding, Place
from trainlint.project.small_files import MOST_BYTES

_OTHERS = tuple(".yaml .yml .json .toml .cfg .ini .gin .sh .md .rst".split())
"""Files beside code that may name a class or a function: configurations, scripts and pages."""

_LOOKED_UP = re.compile(
    rb"\b(?:getattr|hasattr|vars|getmembers|dir)\(\s*(?:\w+\.)*(\w+)|(\w+)\.__dict__|\bimport_module\(([^\n]*)|\b(globals|locals)\(\)"
)
"""How code takes from a module what it does not name."""


def informed(
    findings: Sequence[Finding], read: Callable[[str], bytes], project: Callable[[], Sequence[str] | None]
) -> list[Finding]:
    """The findings, and those of unused code at level info.

    Args:
        read: gives the content of a file by its path, and nothing for one that cannot be read.
        project: gives the files of the whole project, or None where these are too many to look through.
    """
    paths = {one.at.path for one in findings if one.at.path.endswith(".py")}
    files = {path: what_runs(read(path)) for path in paths}
    candidates = {path: _suspects(text, _lines(findings, path)) for path, text in files.items()}
    if not any(candidates.values()):
        return list(findings)
    texts = _texts(read, project())
    if texts is None:
        return list(findings)
    unused = dict(_unused(candidates, files, texts))
    methods = {
        path: uncalled_methods(path, files[path], _lines(findings, path), texts)
        for path in candidates
        if not is_of_a_package(texts)
    }
    found = (_informed(one, *unused.get(one.at.path, ((), False))) for one in findings)
    return [_informed(one, methods.get(one.at.path, ()), is_all=False) for one in found]


def _texts(read: Callable[[str], bytes], project: Sequence[str] | None) -> ProjectTexts | None:
    """What stands in the files of a project that may name code; None where there are too few or too many to tell."""
    if project is None or sum(path.endswith(".py") for path in project) < limits.PROJECT_TELLS:
        return None
    naming = [path for path in project if path.endswith(CODE) or _is_written(path)]
    if len(naming) > limits.PROJECT_FILES:
        return None
    return ProjectTexts({path: read(path) for path in naming})


def _informed(finding: Finding, unused: Iterable[Definition], is_all: bool) -> Finding:
    for one in unused:
        if one.has(finding.at.line) and finding.level != "info":
            at = Place(finding.at.path, one.first, 1, one.first, 1 + one.width)
            what = "this file" if is_all else f"`{one.name.decode()}`"
            reason = Because(at, f"nothing in this project uses {what}")
            return replace(finding, level="info", because=(*finding.because, reason))
    return finding


def _lines(findings: Iterable[Finding], path: str) -> set[int]:
    return {one.at.line for one in findings if one.at.path == path and one.level != "info"}


def _suspects(text: bytes, lines: Iterable[int]) -> list[Definition]:
    """All definitions that nobody may find without naming them, if one of them stands around one of these lines."""
    found = [one for one in definitions(text) if not one.is_found]
    return found if any(one.has(line) for line in lines for one in found) else []


def _left(text: bytes, suspects: Sequence[Definition]) -> list[Definition]:
    """Those of some definitions that nothing else of their own file names."""
    while True:
        rest = beside(text, *suspects)
        left = [one for one in suspects if not names(rest, one.name)]
        if len(left) == len(suspects):
            return left
        suspects = left


def _unused(
    candidates: dict[str, list[Definition]], files: dict[str, bytes], texts: ProjectTexts
) -> Iterator[tuple[str, tuple[list[Definition], bool]]]:
    """What is unused of each file, and whether that is the whole of it."""
    looked_up = {name for text in texts.looking_up() for name in _looked_up(text)}
    for path, suspects in candidates.items():
        if looked_up.intersection(_named(path)) or {b"globals", b"locals"} & _looked_up(files[path]):
            continue
        free = [one for one in suspects if not _is_named(one, path, texts)]
        left = _left(files[path], free)
        if left and _is_used(files[path], _users(path, texts), left):
            yield path, (left, False)
        elif (
            suspects
            and is_apart(path, files[path], texts, partial(_stands_in, suspects))
            and (has_twin(path, texts) or hangs_together(texts))
        ):
            yield path, (suspects, True)


def _users(path: str, texts: ProjectTexts) -> list[bytes]:
    """The other files that import a file."""
    is_only = len(texts.copies(path)) == 1
    others = _that_may_mean(texts, path)
    return [one for other, one in others if other != path and imports(other, one, path, is_only)]


def _is_named(one: Definition, path: str, texts: ProjectTexts) -> bool:
    """Whether another file may mean a definition of a file by its name: one that imports it, or that imports one which hands
    it on. To import it alone is no use of it, but in a package, whose `__init__` says what it is made of; and what trains has
    been run by somebody who imports it, or will be."""
    name, pending, seen = one.name, [path], {path}
    is_enough = trains(within(texts.get(path, b""), one))
    while pending:
        for other, text in _that_may_mean(texts, pending.pop(), partial(_brings, name)):
            if other in seen:
                continue
            seen.add(other)
            is_all = is_enough or not other.endswith(".py") or stem(other) == "__init__"
            if names(text if is_all else without_imports(text), name):
                return True
            pending.append(other)
    return False


def _that_may_mean(
    texts: ProjectTexts, path: str, brings: Callable[[bytes], bool] = bool
) -> Iterator[tuple[str, bytes]]:
    """The files that may mean a definition of a file by its name: code has to import that file, and no nearer one of the same
    name; other files do not."""
    module, copies = module_name(path).encode(), texts.copies(path)
    return texts.where(
        lambda other, text: (
            brings(text)
            and (not other.endswith(CODE) or (names(text, module) and may_mean(other, text, path, copies)))
        )
    )


def _brings(name: bytes, text: bytes) -> bool:
    """Whether a word stands in a text, or it takes all that another file has."""
    return names(text, name) or re.search(rb"\bimport\s*\*", text) is not None


def _stands_in(definitions: Sequence[Definition], line: int) -> bool:
    return any(one.has(line) for one in definitions)


def _is_written(path: str) -> bool:
    """Whether somebody may have written a file beside the code: a longer one holds data."""
    try:
        return path.endswith(_OTHERS) and os.path.getsize(path) <= MOST_BYTES
    except OSError:
        return False


def _is_used(text: bytes, users: Sequence[bytes], unused: Sequence[Definition]) -> bool:
    """Whether something else of a file is used: by what the file does when it is run, or by others, which may only import it."""
    every = list(definitions(text))
    others = [one for one in every if one not in unused]
    run = beside(text, *unused, *others)
    return any(names(run, one.name) for one in others) or any(
        names(user, one.name) for one in every for user in users
    )


def _looked_up(text: bytes) -> set[bytes]:
    """The modules from which a file takes by name; where it imports by name, all words that stand there."""
    return {word for found in _LOOKED_UP.findall(text) for part in found for word in WORD.findall(part)}


def _named(path: str) -> set[bytes]:
    """The names by which code may look something up in a file: that of the module, and that of the package around it."""
    return {one.removesuffix(".py").encode() for one in path.split("/")[-2:] if one != "__init__.py"}
