"""Gitignore-style patterns, of the user's configuration and of git's own files."""

from __future__ import annotations

import itertools
import os
import re
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from trainlint.errors import UsageError

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec
    from pathspec.pattern import RegexPattern

P = TypeVar("P", bound="RegexPattern")
_numbers = itertools.count()

_STAR = "[^/]*"
_BEGINNING = "(?:.+/)?"
_BETWEEN = "(?:/.+)?/"
"""How pathspec writes `*`, `**/` at the beginning, and `/**/` elsewhere."""


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
    try:
        return Patterns(folder, _spec(lines))
    except ValueError as error:
        wrong = next(line for line in lines if not _is_pattern(line))
        raise UsageError(f"`{wrong}` is not a valid .gitignore pattern") from error


def git_patterns(folder: str, lines: Sequence[str]) -> Patterns:
    """A line that is no pattern is passed over, as git does."""
    return Patterns(folder, _spec(line for line in lines if _is_pattern(line)))


def _spec(lines: Iterable[str]) -> GitIgnoreSpec:
    """Raises ValueError for a line that is no pattern."""
    from pathspec import GitIgnoreSpec

    try:
        return GitIgnoreSpec(map(_linear, GitIgnoreSpec.from_lines(lines).patterns))
    except re.error as error:  # a range of characters that runs backwards
        raise ValueError(str(error)) from error


def _linear(pattern: P) -> P:
    """The same pattern, matched without going back: where the next thing after a star begins with another star, the first
    place where it fits is as good as any later one."""
    text = pattern.regex.pattern if pattern.regex is not None else ""
    if text.count(_STAR) + text.count(_BETWEEN) < 2:
        return pattern
    return type(pattern)(re.compile(_folders(text)), pattern.include)


def _folders(regex: str) -> str:
    """`**`, which stands for any number of folders."""
    begins = regex.startswith(f"^{_BEGINNING}")
    first, *rest = regex.removeprefix(f"^{_BEGINNING}" if begins else "^").split(_BETWEEN)
    pieces = [("(?:[^/]+/)*?" if begins else "", first), *(("(?:/[^/]+)*?/", one) for one in rest)]
    *middle, (stars, last) = [(stars, _names(one)) for stars, one in pieces]
    return "^" + "".join(_once(f"{stars}{one}(?=/)") for stars, one in middle) + stars + last


def _names(regex: str) -> str:
    """`*`, which stands for any part of a name. What stands between two stars has a fixed length."""
    first, *rest = regex.split(_STAR)
    if not rest:
        return regex
    *middle, last = rest
    found = [first]
    for one in filter(None, middle):
        is_within = not set(one.replace("[^/]", "")) & set("(/+$")
        found.append(_once(f"[^/]*?{one}") if is_within else _STAR + one)
    return "".join([*found, _STAR, last])


def _once(regex: str) -> str:
    """A group that is matched in one way alone."""
    if sys.version_info >= (3, 11):
        return f"(?>{regex})"
    name = f"once{next(_numbers)}"
    return f"(?=(?P<{name}>{regex}))(?P={name})"


def _is_pattern(line: str) -> bool:
    try:
        _spec([line])
    except ValueError:
        return False
    return True
