"""What a configuration leaves out: files that are met by name, or because others import them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from trainlint.project.config import Config
from trainlint.project.files import DEFAULT_EXCLUDE, is_excluded


def exclude_patterns(config: Config) -> tuple[str, ...]:
    """What no walk enters."""
    usual = DEFAULT_EXCLUDE if config.exclude is None else config.exclude
    return (*usual, *config.extend_exclude, *_wrong_on_purpose(config))


def from_here(patterns: Iterable[str], root: Path) -> tuple[str, ...]:
    """Patterns that start from the working directory, as a configuration in `root` would write them.

    Those that can match nothing below `root` are left out.
    """
    here = Path.cwd().resolve()
    top = root.resolve()
    if here.is_relative_to(top):
        return tuple(_below(one, here.relative_to(top).parts) for one in patterns)
    if not top.is_relative_to(here):
        return tuple(patterns)
    found = (_inside(one, top.relative_to(here).parts) for one in patterns)
    return tuple(one for one in found if one is not None)


def _below(pattern: str, folders: Sequence[str]) -> str:
    """A pattern that starts from folders below, as their top would write it; one without a slash starts anywhere."""
    sign, body = ("!", pattern[1:]) if pattern.startswith("!") else ("", pattern)
    if "/" not in body.rstrip("/"):
        return pattern
    return f"{sign}/{'/'.join((*folders, body.removeprefix('./').lstrip('/')))}"


def _inside(pattern: str, folders: Sequence[str]) -> str | None:
    """A pattern as a folder below writes it; None if it speaks of other folders."""
    sign, body = ("!", pattern[1:]) if pattern.startswith("!") else ("", pattern)
    if "/" not in body.rstrip("/"):
        inside = any(fnmatchcase(folder, body.rstrip("/")) for folder in folders)
        return f"{sign}/**" if inside else pattern
    parts = body.removeprefix("./").strip("/").split("/")
    for number, folder in enumerate(folders):
        if number >= len(parts):
            return f"{sign}/**"
        if parts[number] == "**":
            return f"{sign}{'/'.join(parts[number:])}"
        if not fnmatchcase(folder, parts[number]):
            return None
    return f"{sign}/{'/'.join(parts[len(folders) :])}" if len(parts) > len(folders) else f"{sign}/**"


def _wrong_on_purpose(config: Config) -> list[str]:
    """The programs with bugs that the project's own rules are shown with."""
    inside = (one for one in config.rule_paths if one.is_relative_to(config.root.resolve()))
    return [f"/{one.relative_to(config.root.resolve()).as_posix()}/*/bad*.py" for one in inside]


def is_left_out(path: str, config: Config, *, respect_gitignore: bool) -> bool:
    """Whether a walk of the project would pass this file or folder by. Raises UsageError for a wrong pattern.

    The project begins at its configuration, or without one at the working directory.
    """
    absolute = os.path.abspath(path)
    top = str(config.root) if config.file is not None else os.getcwd()
    try:
        folder = os.path.commonpath([top, absolute])
    except ValueError:  # on different drives
        return False
    return folder != absolute and is_excluded(
        absolute,
        folder,
        root=config.root,
        exclude=exclude_patterns(config),
        respect_gitignore=respect_gitignore,
    )
