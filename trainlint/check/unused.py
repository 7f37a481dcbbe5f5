"""Findings in code that the project holds and does not use: true, but nothing that runs is wrong yet, so they are information.

A class or function is unused if its name stands nowhere in the project but in itself and in what is unused too, while the
rest of its file is in use; a whole file, if it does nothing when it is run and nothing names it, in a project whose other files
are imported. Where half of a program is missing, nothing can be told, so a project has to be large enough; and of a package,
others may use any file.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from trainlint import limits
from trainlint.check.naming import WORD, imports, names, stem, what_runs, without_imports
from trainlint.check.whole_files import hangs_together, is_apart
from trainlint.finding import Because, Finding, Place
from trainlint.project.small_files import MOST_BYTES
from trainlint.project.soundness import tree

_CODE = (".py", ".ipynb")
_OTHERS = tuple(".yaml .yml .json .toml .cfg .ini .gin .sh .md .rst".split())
"""Files beside code that may name a class or a function: configurations, scripts and pages."""

_LOOKED_UP = re.compile(
    rb"\b(?:getattr|hasattr|vars|getmembers|dir)\(\s*(?:\w+\.)*(\w+)|(\w+)\.__dict__|\bimport_module\(([^\n]*)|\b(globals|locals)\(\)"
)
"""How code takes from a module what it does not name."""

_KEYWORDS = {ast.ClassDef: "class ", ast.FunctionDef: "def ", ast.AsyncFunctionDef: "async def "}


class _Definition(NamedTuple):
    """A class or function of a file, with its first and its last line, and where its first words end. `is_found`: others may
    find it without naming it."""

    name: bytes
    first: int
    last: int
    width: int
    is_found: bool = False

    def has(self, line: int) -> bool:
        return self.first <= line <= self.last


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
    unused = dict(_unused(candidates, files, read, project()))
    return [_informed(one, *unused.get(one.at.path, ((), False))) for one in findings]


def _informed(finding: Finding, unused: Iterable[_Definition], is_all: bool) -> Finding:
    for one in unused:
        if one.has(finding.at.line) and finding.level != "info":
            at = Place(finding.at.path, one.first, 1, one.first, 1 + one.width)
            what = "this file" if is_all else f"`{one.name.decode()}`"
            reason = Because(at, f"nothing in this project uses {what}")
            return replace(finding, level="info", because=(*finding.because, reason))
    return finding


def _lines(findings: Iterable[Finding], path: str) -> set[int]:
    return {one.at.line for one in findings if one.at.path == path and one.level != "info"}


def _suspects(text: bytes, lines: Iterable[int]) -> list[_Definition]:
    """All definitions that nobody may find without naming them, if one of them stands around one of these lines."""
    found = [one for one in _definitions(text) if not one.is_found]
    return found if any(one.has(line) for line in lines for one in found) else []


def _left(text: bytes, suspects: Sequence[_Definition]) -> list[_Definition]:
    """Those of some definitions that nothing else of their own file names."""
    while True:
        beside = _beside(text, *suspects)
        left = [one for one in suspects if not names(beside, one.name)]
        if len(left) == len(suspects):
            return left
        suspects = left


def _definitions(text: bytes) -> Iterator[_Definition]:
    for node in tree(text).body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            is_found = bool(node.decorator_list) or node.name.lower().startswith(("test", "__"))
            last, width = node.end_lineno or node.lineno, len(_KEYWORDS[type(node)]) + len(node.name)
            yield _Definition(node.name.encode(), node.lineno, last, width, is_found)


def _beside(text: bytes, *definitions: _Definition) -> bytes:
    """What of a file does not stand in these definitions."""
    lines = text.splitlines()
    for one in definitions:
        lines[one.first - 1 : one.last] = [b""] * (one.last - one.first + 1)
    return b"\n".join(lines)


def _unused(
    candidates: dict[str, list[_Definition]],
    files: dict[str, bytes],
    read: Callable[[str], bytes],
    project: Sequence[str] | None,
) -> Iterator[tuple[str, tuple[list[_Definition], bool]]]:
    """What is unused of each file, and whether that is the whole of it."""
    if project is None or sum(path.endswith(".py") for path in project) < limits.PROJECT_TELLS:
        return
    naming = [path for path in project if path.endswith(_CODE) or _is_written(path)]
    if len(naming) > limits.PROJECT_FILES:
        return
    texts = {path: what_runs(read(path)) if path.endswith(".py") else read(path) for path in naming}
    looked_up = {name for path, text in texts.items() if path.endswith(".py") for name in _looked_up(text)}
    for path, suspects in candidates.items():
        modules = _modules(path)
        if not looked_up.isdisjoint(modules) or {b"globals", b"locals"} & _looked_up(files[path]):
            continue
        others = {
            other: one for other, one in texts.items() if other != path and _may_name(other, one, modules)
        }
        free = [one for one in suspects if not _is_named(one.name, path, texts)]
        left = _left(files[path], free)
        is_only = sum(stem(one) == stem(path) for one in texts) == 1
        users = [one for other, one in others.items() if imports(other, one, path, is_only)]
        if left and _is_used(files[path], users, left):
            yield path, (left, False)
        elif (
            suspects
            and is_apart(path, files[path], texts, partial(_stands_in, suspects))
            and hangs_together(texts)
        ):
            yield path, (suspects, True)


def _is_named(name: bytes, path: str, texts: Mapping[str, bytes]) -> bool:
    """Whether another file may mean a definition of a file by its name: one that imports it, or that imports one which hands
    it on. To import it alone is no use of it, but in a package, whose `__init__` says what it is made of."""
    pending, seen = [path], {path}
    while pending:
        modules = _modules(pending.pop())
        for other, text in texts.items():
            if other in seen or not _may_name(other, text, modules) or not _brings(text, name):
                continue
            seen.add(other)
            is_all = not other.endswith(".py") or stem(other) == "__init__"
            if names(text if is_all else without_imports(text), name):
                return True
            pending.append(other)
    return False


def _brings(text: bytes, name: bytes) -> bool:
    """Whether a word stands in a text, or it takes all that another file has."""
    return names(text, name) or re.search(rb"\bimport\s*\*", text) is not None


def _stands_in(definitions: Sequence[_Definition], line: int) -> bool:
    return any(one.has(line) for one in definitions)


def _is_written(path: str) -> bool:
    """Whether somebody may have written a file beside the code: a longer one holds data."""
    try:
        return path.endswith(_OTHERS) and os.path.getsize(path) <= MOST_BYTES
    except OSError:
        return False


def _may_name(path: str, text: bytes, modules: set[bytes]) -> bool:
    """Whether a file may mean a definition of a module by its name: code has to import that."""
    return not path.endswith(_CODE) or any(names(text, one) for one in modules)


def _is_used(text: bytes, users: Sequence[bytes], unused: Sequence[_Definition]) -> bool:
    """Whether something else of a file is used: by what the file does when it is run, or by others, which may only import it."""
    every = list(_definitions(text))
    others = [one for one in every if one not in unused]
    run = _beside(text, *unused, *others)
    return any(names(run, one.name) for one in others) or any(
        names(user, one.name) for one in every for user in users
    )


def _looked_up(text: bytes) -> set[bytes]:
    """The modules from which a file takes by name; where it imports by name, all words that stand there."""
    return {word for found in _LOOKED_UP.findall(text) for part in found for word in WORD.findall(part)}


def _modules(path: str) -> set[bytes]:
    """The names under which a file may be imported as a module, alone or in its package."""
    parts = path.removesuffix(".py").split("/")
    return {one.encode() for one in parts[-2:] if one != "__init__"}
