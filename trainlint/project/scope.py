"""What a configuration leaves out: files that are met by name, or because others import them."""

from __future__ import annotations

import os

from trainlint.project.config import Config
from trainlint.project.files import DEFAULT_EXCLUDE, is_excluded


def exclude_patterns(config: Config) -> tuple[str, ...]:
    """What no walk enters."""
    usual = DEFAULT_EXCLUDE if config.exclude is None else config.exclude
    return (*usual, *config.extend_exclude, *_wrong_on_purpose(config))


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
