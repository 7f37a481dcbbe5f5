"""Files that nothing in a project uses at all, in one that is complete."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Callable

from trainlint.check.definitions import trains
from trainlint.check.naming import imported, may_mean, module_name, stem
from trainlint.check.project_texts import ProjectTexts
from trainlint.project.soundness import tree


def is_apart(path: str, text: bytes, texts: ProjectTexts, is_defined: Callable[[int], bool]) -> bool:
    """Whether a file only defines things and does not train, and nothing else in the project names the file.

    Args:
        is_defined: whether a line stands in a definition that nobody finds without naming it.
    """
    if trains(text):
        return False
    lines = [one.lineno for one in tree(text).body if not _does_nothing(one)]
    copies = texts.copies(path)
    return all(map(is_defined, lines)) and not any(
        place not in copies and may_mean(place, naming, path, copies)
        for place, naming in texts.naming(module_name(path).encode())
    )


def has_twin(path: str, texts: ProjectTexts) -> bool:
    """Whether the project holds the same file again, in another folder."""
    return any(one != path and texts[one] == texts.get(path) for one in texts.copies(path))


def _does_nothing(statement: ast.stmt) -> bool:
    """Whether a statement only imports, says something, or gives a name to what it calls nothing for."""
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return True
    is_plain = isinstance(statement, (ast.Assign, ast.AnnAssign, ast.Expr))
    return is_plain and not any(isinstance(one, ast.Call) for one in ast.walk(statement))


def hangs_together(texts: ProjectTexts) -> bool:
    """Whether files are one program, which is complete: two in three of those that are no scripts are imported, or half, and at
    least three, of those that do nothing when they are run. In a folder of separate programs few are. Of a package that
    others install, those may import any file."""
    if is_of_a_package(texts):
        return False
    codes = {path: text for path, text in texts.items() if path.endswith(".py")}
    words = {word for text in codes.values() for one in imported(text) for word in one.split(".")}
    codes = {path: text for path, text in codes.items() if not stem(path).startswith("__")}
    taken = [path for path, text in codes.items() if b"__main__" not in text]
    if sum(stem(path) in words for path in taken) * 3 >= len(taken) * 2:
        return True
    held = [path for path, text in codes.items() if _only_defines(text)]
    used = sum(stem(path) in words for path in held)
    return used >= _SOME and used * 2 >= len(held)


_SOME = 3
"""Files of definitions that a program has at least."""


def _only_defines(text: bytes) -> bool:
    """Whether a file holds definitions, and does nothing when it is run."""
    body = tree(text).body
    others = [one for one in body if not isinstance(one, _DEFINES)]
    return len(others) < len(body) and all(map(_does_nothing, others))


_DEFINES = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def is_of_a_package(texts: ProjectTexts) -> bool:
    """Whether a file says that the project is one that others install."""
    return any(_packs(path, texts) for path in texts)


def _packs(path: str, texts: ProjectTexts) -> bool:
    name = os.path.basename(path)
    return name in ("setup.py", "setup.cfg") or (
        name == "pyproject.toml"
        and re.search(rb"^\[(?:project|tool\.poetry)\]", texts[path], re.MULTILINE) is not None
    )
