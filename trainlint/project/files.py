"""Which files to check: those named, and the Python files and notebooks under the folders named."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from trainlint.errors import UsageError
from trainlint.finding import Problem
from trainlint.project.patterns import Patterns, git_patterns, user_patterns
from trainlint.project.small_files import text_of
from trainlint.superseded import is_still_wanted

SUFFIXES = (".py", ".ipynb")
DEFAULT_EXCLUDE = (
    ".bzr",
    ".direnv",
    ".eggs",
    ".git",
    ".hg",
    ".ipynb_checkpoints",
    ".mypy_cache",
    ".nox",
    ".pytest_cache",
    ".ruff_cache",
    ".svn",
    ".tox",
    ".trainlint_cache",
    ".venv",
    "__pycache__",
    "__pypackages__",
    "build",
    "dist",
    "node_modules",
    "site-packages",
    "venv",
)


class Exclusion(NamedTuple):
    """What no walk enters: plain names, and patterns for what is more than a name."""

    names: frozenset[str]
    patterns: tuple[Patterns, ...]

    def takes_out(self, entry: os.DirEntry[str], is_folder: bool) -> bool:
        return entry.name in self.names or _ignored(entry.path, is_folder, self.patterns)


class Discovery(NamedTuple):
    """Files as they are shown to the user, in order and each once; and the folders that could not be read."""

    files: tuple[str, ...]
    problems: tuple[Problem, ...]


def python_files(
    paths: Iterable[str], *, root: Path, exclude: Sequence[str], respect_gitignore: bool
) -> Discovery:
    """Every file among `paths`, and every `.py` and `.ipynb` file under the folders among them.

    A named file or folder is looked at whatever excludes it. `exclude` starts from `root`. Links to
    folders are not followed. Raises UsageError for a path that does not
    exist and for a wrong pattern.
    """
    problems: list[Problem] = []
    files: set[str] = set()
    for path in paths:
        absolute = os.path.abspath(path)
        if os.path.isdir(absolute):
            ignoring = _gitignores_around(absolute) if respect_gitignore else ()
            exclusion = _exclusion_in(absolute, exclude, root)
            walk = _walk(absolute, ignoring, exclusion, respect_gitignore, problems)
            files.update(shown_path(file) for file in walk)
        elif os.path.exists(absolute):
            files.add(shown_path(absolute))
        else:
            raise UsageError(f"{path}: no such file or folder")
    return Discovery(tuple(sorted(files)), tuple(sorted(set(problems))))


def files_below(folder: str, *, root: Path, exclude: Sequence[str], respect_gitignore: bool) -> Iterator[str]:
    """Every file that is looked at if this folder is named, in no order. Raises UsageError for a wrong pattern."""
    ignoring = _gitignores_around(folder) if respect_gitignore else ()
    return _walk(folder, ignoring, _exclusion_in(folder, exclude, root), respect_gitignore, [])


def is_excluded(
    path: str, folder: str, *, root: Path, exclude: Sequence[str], respect_gitignore: bool
) -> bool:
    """Whether a file in this folder is passed by if the folder is named."""
    exclusion = _exclusion_in(folder, exclude, root)
    ignoring = _gitignores_around(folder) if respect_gitignore else ()
    current = folder
    for name in os.path.relpath(path, folder).split(os.sep):
        if current != folder and os.path.exists(os.path.join(current, "pyvenv.cfg")):
            return True
        if respect_gitignore:
            ignoring = (*ignoring, *_ignore_file(current, os.path.join(current, ".gitignore")))
        current = os.path.join(current, name)
        is_folder = current != path
        if name in exclusion.names or _ignored(current, is_folder, (*exclusion.patterns, *ignoring)):
            return True
    return False


def shown_path(path: str) -> str:
    """`path` from the working directory if it is inside, else absolute; with forward slashes."""
    absolute = os.path.abspath(path)
    inside = os.path.join(os.getcwd(), "")
    return absolute.removeprefix(inside).replace(os.sep, "/")


def _walk(
    top: str,
    ignoring: tuple[Patterns, ...],
    exclusion: Exclusion,
    respect_gitignore: bool,
    problems: list[Problem],
) -> Iterator[str]:
    waiting = [(top, ignoring)]
    while waiting:
        is_still_wanted()
        folder, ignoring = waiting.pop()
        try:
            with os.scandir(folder) as listing:
                entries = list(listing)
        except OSError as error:
            problems.append(Problem(shown_path(folder), None, f"cannot be read: {error.strerror}"))
            continue
        names = {entry.name for entry in entries}
        if "pyvenv.cfg" in names and folder != top:
            continue
        if respect_gitignore and ".gitignore" in names:
            ignoring = (*ignoring, *_ignore_file(folder, os.path.join(folder, ".gitignore")))
        for entry in entries:
            is_folder = entry.is_dir(follow_symlinks=False)
            if not is_folder and not (entry.name.endswith(SUFFIXES) and os.path.isfile(entry.path)):
                continue
            if exclusion.takes_out(entry, is_folder) or _ignored(entry.path, is_folder, ignoring):
                continue
            if is_folder:
                waiting.append((entry.path, ignoring))
            else:
                yield entry.path


def _ignored(path: str, is_folder: bool, ignoring: tuple[Patterns, ...]) -> bool:
    """Whether `path` is out: the innermost patterns that say anything about it decide."""
    for patterns in reversed(ignoring):
        verdict = patterns.verdict(path, is_folder=is_folder)
        if verdict is not None:
            return verdict
    return False


def _exclusion_in(folder: str, exclude: Sequence[str], root: Path) -> Exclusion:
    """What is not entered below a folder that somebody has named: patterns that take out the folder itself do not
    count."""
    names = frozenset(pattern for pattern in exclude if not set(pattern) & set("/*?[]!#\\ "))
    rest = [pattern for pattern in exclude if pattern not in names]
    if folder != str(root):
        rest = [one for one in rest if not user_patterns(str(root), [one]).verdict(folder, is_folder=True)]
    return Exclusion(names, (user_patterns(str(root), rest),) if rest else ())


def _gitignores_around(folder: str) -> tuple[Patterns, ...]:
    """What the repository around `folder` ignores, outermost first; nothing if it ignores `folder` itself."""
    inside = [folder, *map(str, Path(folder).parents)]
    repository = next((at for at in inside if os.path.exists(os.path.join(at, ".git"))), None)
    if repository is None:
        return ()
    ignoring = _ignore_file(repository, os.path.join(repository, ".git", "info", "exclude"))
    for parent in reversed(inside[1 : inside.index(repository) + 1]):
        ignoring = (*ignoring, *_ignore_file(parent, os.path.join(parent, ".gitignore")))
    return () if folder != repository and _ignored(folder, True, ignoring) else ignoring


def _ignore_file(folder: str, file: str) -> tuple[Patterns, ...]:
    """The patterns in git's `file`, which start from `folder`; none if there is no such file, or none that is short enough to be one."""
    try:
        lines = text_of(file, errors="replace").splitlines()
    except OSError:
        return ()
    patterns = [line for line in lines if line.strip() and not line.startswith("#")]
    return (git_patterns(folder, patterns),) if patterns else ()
