"""Gitignore-style patterns, of the user's configuration and of git's own files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from trainlint.errors import UsageError

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec


class Patterns(NamedTuple):
    """Patterns that start from one folder."""

    folder: str
    spec: GitIgnoreSpec

    def verdict(self, path: str, *, is_folder: bool) -> bool | None:
        """True where the patterns match `path`, False where they take it back, None where they do neither."""
        inside = os.path.relpath(path, self.folder).replace(os.sep, "/")
        return self.spec.check_file(f"{inside}/" if is_folder else inside).include


def user_patterns(folder: str, lines: Sequence[str]) -> Patterns:
    """Raises UsageError for a line that is no pattern."""
    from pathspec import GitIgnoreSpec

    try:
        return Patterns(folder, GitIgnoreSpec.from_lines(lines))
    except ValueError as error:
        wrong = next(line for line in lines if not _is_pattern(line))
        raise UsageError(f"`{wrong}` is not a valid .gitignore pattern") from error


def git_patterns(folder: str, lines: Sequence[str]) -> Patterns:
    """A line that is no pattern is passed over, as git does."""
    from pathspec import GitIgnoreSpec

    return Patterns(folder, GitIgnoreSpec.from_lines(line for line in lines if _is_pattern(line)))


def _is_pattern(line: str) -> bool:
    from pathspec import GitIgnoreSpec

    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True
