"""What a project asks to be installed, as its files say it. Nothing of it is run."""

from __future__ import annotations

import ast
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatch, translate
from functools import cache
from pathlib import Path
from typing import Any

from trainlint.project.images import requirements_of_dockerfile
from trainlint.project.instructions import (
    requirements_of_commands,
    requirements_of_readme,
    requirements_of_workflow,
)
from trainlint.project.small_files import text_of
from trainlint.project.soundness import tree

Reader = Callable[[str], Iterator[str]]
Readers = Mapping[str, Reader]

_PINNED = re.compile(
    r"[A-Za-z][\w.-]*\s*(?:\[[^]]*\]\s*)?(?:===|==|~=|>=|<=|!=|<|>)\s*\d[^\r\n]*|torch\s*@\s*\S+\.whl\b\S*"
)
"""A requirement that names a version or a file: elsewhere a name may stand for anything."""
_CONDA = re.compile(
    r"\s*(?:-\s*)?[\"']?(?:[\w.-]+::)?(?:py)?torch(?:-[cg]pu)?\s*(?P<versions>[=<>!~][^\"'#]*)"
)

_ENVIRONMENT = tuple(
    re.compile(rf"^{name}:\s*(?:#.*)?$", re.MULTILINE) for name in ("channels", "dependencies")
)


def requirements(folder: Path) -> Iterator[tuple[str, bool]]:
    """The requirements that the files of a folder list, in the notation of pip, and of each whether it is one of a package:
    of those who install that, some have a torch already."""
    for file, line in _read(folder, _LISTS):
        yield line, file.name in _OF_PACKAGES


def instructions(folder: Path) -> Iterator[str]:
    """The requirements that follow from how the project in a folder is built, tested and installed by hand."""
    return (line for _, line in _read(folder, _INSTRUCTIONS))


def _read(folder: Path, readers: Readers) -> Iterator[tuple[Path, str]]:
    for file, read in _files(folder, {tuple(pattern.split("/")): read for pattern, read in readers.items()}):
        try:
            text = text_of(file)
        except (OSError, UnicodeDecodeError):
            continue
        yield from ((file, line) for line in read(text))


def _files(folder: Path, readers: Mapping[tuple[str, ...], Reader]) -> Iterator[tuple[Path, Reader]]:
    """The files that patterns name, in their order, with what reads them. The folder is gone through once for all."""
    starts = tuple(first for first, *_ in readers)
    try:
        names = sorted(name for name in os.listdir(folder) if _any_of(starts)(os.path.normcase(name)))
    except OSError:  # one that may not be listed: what has one name alone may be there
        names = sorted({*starts})
    for (first, *inner), read in readers.items():
        for name in names:
            if not fnmatch(name, first):
                continue
            if inner:
                yield from _files(folder / name, {(*inner,): read})
            else:
                yield folder / name, read


@cache
def _any_of(patterns: tuple[str, ...]) -> Callable[[str], object]:
    """Whether a name is one of these: asked of each name in folders that may hold thousands."""
    return re.compile("|".join(translate(os.path.normcase(one)) for one in patterns)).match


def _of_pyproject(text: str) -> Iterator[str]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib

    try:
        content = tomllib.loads(text)
    except (ValueError, RecursionError):
        return
    yield from _strings(_inner(content, "project", "dependencies"))
    optional = _inner(content, "project", "optional-dependencies")
    for group in optional.values() if isinstance(optional, dict) else ():
        yield from _strings(group)
    poetry = _inner(content, "tool", "poetry", "dependencies")
    given = poetry.get("torch") if isinstance(poetry, dict) else None
    wanted = given.get("version") if isinstance(given, dict) else given
    if isinstance(wanted, str):
        yield f"torch {wanted}"


def _inner(content: Any, *keys: str) -> Any:
    for key in keys:
        content = content.get(key) if isinstance(content, dict) else None
    return content


def _strings(value: object) -> Iterator[str]:
    yield from (one for one in value if isinstance(one, str)) if isinstance(value, list) else ()


def _of_requirements(text: str) -> Iterator[str]:
    """Those of pip, or what `conda list --export` has written."""
    for line in text.splitlines():
        yield line
        yield from _of_conda(line)


def _of_setup(text: str) -> Iterator[str]:
    """The strings of `setup.py` that pin something, wherever they stand."""
    for node in ast.walk(tree(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from _of_setup_cfg(node.value)


def _of_setup_cfg(text: str) -> Iterator[str]:
    lines = (line.strip() for line in text.splitlines())
    yield from (line for line in lines if _PINNED.fullmatch(line))


def _of_conda(text: str) -> Iterator[str]:
    """What conda calls `pytorch`, and what it leaves to pip; `=1.9` is any version that begins so."""
    for line in text.splitlines():
        found = _CONDA.match(line)
        if found is not None:
            yield f"torch{found['versions']}"


def _of_environment(text: str) -> Iterator[str]:
    """What conda installs by a file of any name: other YAML has no list of channels beside that of dependencies."""
    if all(one.search(text) for one in _ENVIRONMENT):
        yield from _of_conda(text)


def _of_dockerfile(text: str) -> Iterator[str]:
    yield from requirements_of_dockerfile(text)
    yield from requirements_of_commands(text)


_OF_PACKAGES = frozenset(("pyproject.toml", "setup.py", "setup.cfg"))
_LISTS: Readers = {
    "pyproject.toml": _of_pyproject,
    "requirements.txt": _of_requirements,
    "setup.py": _of_setup,
    "setup.cfg": _of_setup_cfg,
    "env*.yml": _of_conda,
    "env*.yaml": _of_conda,
    "conda*.yml": _of_conda,
    "conda*.yaml": _of_conda,
    "constraints*.txt": _of_requirements,
    "requirement*.txt": _of_requirements,
    "requirements/*.txt": _of_requirements,
    "requirement*.yml": _of_conda,
    "requirement*.yaml": _of_conda,
    "*.yml": _of_environment,
    "*.yaml": _of_environment,
}
"""By name or pattern, what reads it."""

_INSTRUCTIONS: Readers = {
    "[Dd]ockerfile*": _of_dockerfile,
    "*.[Dd]ockerfile": _of_dockerfile,
    "[Dd]ocker/*[Dd]ockerfile*": _of_dockerfile,
    "[Dd]ocker/*/[Dd]ockerfile*": _of_dockerfile,
    ".devcontainer/[Dd]ockerfile*": _of_dockerfile,
    ".github/workflows/*.yml": requirements_of_workflow,
    ".github/workflows/*.yaml": requirements_of_workflow,
    "README*": requirements_of_readme,
}
