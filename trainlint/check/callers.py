"""The callers of what is checked: files of the project that import those that were named, and were not named themselves.

`trainlint check engine.py` judges its functions as `train.py` calls them, as an editor does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from trainlint import limits
from trainlint.program.incremental.importers import Graph
from trainlint.project.absent import names_in
from trainlint.project.bytes_on_disk import Contents
from trainlint.project.config import Config
from trainlint.project.files import files_below, shown_path
from trainlint.project.scope import exclude_patterns
from trainlint.reached import Reached

_ROOTS = (".git", "pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "environment.yml")
"""What stands in the folder of a project."""


class Callers(NamedTuple):
    files: tuple[str, ...]
    limited: tuple[Reached, ...]
    """Limits for which there may be more of them."""


def callers(named: Sequence[str], folder: Path, config: Config) -> Callers:
    """The files that import these, directly or not, nearest first, as far as the limits allow.

    Args:
        folder: the innermost that holds all of them.

    Raises UsageError for a wrong pattern.
    """
    if not named:
        return Callers((), ())
    project = project_of(folder)
    limited: list[Reached] = []
    listed = _listed(project, config)
    if listed is None:
        listed = sorted({one for path in named for one in _nearby(path, project)})
        lost = "only files in the folders around it are looked at for callers"
        limited.append(Reached(named[0], "", "PROJECT_FILES", lost))
    contents = Contents({})
    found: list[str] = []
    room = limits.CALLERS_SIZE
    for wave in Graph(listed).importing(named, contents.get):
        for path in sorted(wave.difference(named), key=lambda one: (len(contents.get(one)), one)):
            room -= len(contents.get(path))
            if room < 0:
                lost = f"{path} and other files that import it are not read"
                return Callers(tuple(found), (*limited, Reached(named[0], "", "CALLERS_SIZE", lost)))
            found.append(path)
    return Callers(tuple(found), tuple(limited))


def project_of(folder: Path) -> Path:
    """The folder of the project that a folder is in: the nearest that looks like one, or else itself."""
    around = (one for one in (folder, *folder.parents) if any((one / name).exists() for name in _ROOTS))
    return next(around, folder)


def _listed(folder: Path, config: Config) -> list[str] | None:
    """The Python files of a folder, as they are shown; None if it holds too much."""
    entries = files_of_project(folder, config)
    return None if entries is None else [path for path in entries if path.endswith(".py")]


def files_of_project(folder: Path, config: Config) -> list[str] | None:
    """All files of the project that a folder is in, as they are shown; None if it holds too much."""
    below = files_below(
        str(project_of(folder)),
        root=config.root,
        exclude=exclude_patterns(config),
        respect_gitignore=config.respect_gitignore,
    )
    entries = list(islice(below, limits.PROJECT_ENTRIES + 1))
    python = [path for path in entries if path.endswith(".py")]
    if len(entries) > limits.PROJECT_ENTRIES or len(python) > limits.PROJECT_FILES:
        return None
    return sorted(map(shown_path, entries))


def _nearby(path: str, project: Path) -> Iterator[str]:
    """The Python files in the folder of a file, and in those around it up to the project's."""
    own = Path(path).absolute().parent
    for folder in (own, *own.parents):
        for name in names_in(str(folder)):
            if name.endswith(".py"):
                yield shown_path(str(folder / name))
        if folder == project:
            return
