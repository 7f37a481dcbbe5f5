"""The user's configuration: `[tool.trainlint]` in pyproject.toml, or trainlint.toml."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, cast, get_args

from trainlint.errors import UsageError
from trainlint.finding import Confidence, Finding, Level, Version
from trainlint.project.small_files import text_of
from trainlint.project.suggestion import did_you_mean
from trainlint.project.target import NEWEST, Target, target_near, version

_TOO_DEEP = re.compile(r"^[ \t\[]*(?:[\w-]+[ \t]*\.[ \t]*){100}", re.MULTILINE)
"""A dotted key that takes a TOML parser longer than anybody waits."""


@dataclass(frozen=True)
class Config:
    """What a configuration file says. Patterns are gitignore-style and start from `root`."""

    root: Path
    file: Path | None = None
    select: tuple[str, ...] | None = None
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_file_ignores: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    exclude: tuple[str, ...] | None = None
    extend_exclude: tuple[str, ...] = ()
    respect_gitignore: bool = True
    jobs: int | None = None
    cache_dir: Path | None = None
    target_torch: Version | None = None
    min_level: Level | None = None
    min_confidence: Confidence | None = None
    baseline: Path | None = None
    given: frozenset[str] = frozenset()
    """The settings that the file names; all others are as they are without a file."""

    def target(self, start: Path) -> Target:
        """The versions of torch that the project is for which a folder belongs to."""
        if self.target_torch is None:
            return target_near(start)
        return Target(self.target_torch, max(self.target_torch, NEWEST))

    def concerns(self) -> Callable[[Finding], bool]:
        """Whether a finding matters for the versions of torch that its file is for: a folder of a collection may have
        dependencies of its own."""
        of_folder = cache(lambda folder: self.target(Path(folder)))
        return lambda finding: (
            finding.torch is None
            or of_folder(os.path.dirname(os.path.abspath(finding.at.path))).concerns(finding)
        )


def find_config(start: Path) -> Config:
    """The configuration nearest to `start`, which is a folder, upwards; the default where there is none.

    Raises UsageError for a file that cannot be read or says something unknown.
    """
    for folder in (start, *start.parents):
        for name in ("trainlint.toml", "pyproject.toml"):
            file = folder / name
            if file.is_file():
                table = _own_table(file)
                if table is not None:
                    return _config(file, table)
    return Config(start)


def read_config(file: Path) -> Config:
    """The configuration in this file. Raises UsageError as `find_config` does, and where there is none."""
    table = _own_table(file)
    if table is None:
        raise UsageError(f"{file}: has no [tool.trainlint] section")
    return _config(file.absolute(), table)


def _own_table(file: Path) -> dict[str, Any] | None:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib

    try:
        text = text_of(file)
        if _TOO_DEEP.search(text) is not None:
            raise ValueError("a key has more than 100 parts")
        content = tomllib.loads(text)
    except OSError as error:
        raise UsageError(f"{file}: cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise UsageError(f"{file}: is not valid TOML: {error}") from error
    except RecursionError as error:
        raise UsageError(f"{file}: is not valid TOML: it is nested too deeply") from error
    if file.name != "pyproject.toml":
        return content
    tool = content.get("tool", {})
    table = tool.get("trainlint") if isinstance(tool, dict) else None
    if table is not None and not isinstance(table, dict):
        raise UsageError(f"{file}: tool.trainlint must be a table")
    return table


def _config(file: Path, table: Mapping[str, Any]) -> Config:
    values = {}
    for key, value in table.items():
        if key not in SETTINGS:
            raise UsageError(f"{file}: `{key}` is not a setting{did_you_mean(key, SETTINGS)}")
        reader, wanted = SETTINGS[key]
        try:
            values[key.replace("-", "_")] = reader(value)
        except TypeError as error:
            raise UsageError(f"{file}: `{key}` must be {wanted}") from error
    for name in ("cache_dir", "baseline"):
        if name in values:
            values[name] = file.parent / values[name]
    return Config(file.parent, file, given=frozenset(table), **values)


def _strings(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise TypeError
    return tuple(value)


def _strings_by_pattern(value: object) -> dict[str, tuple[str, ...]]:
    if not isinstance(value, dict):
        raise TypeError
    return {pattern: _strings(items) for pattern, items in value.items()}


def _truth(value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError
    return value


def _positive(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise TypeError
    return value


def _path(value: object) -> Path:
    if not isinstance(value, str):
        raise TypeError
    return Path(value)


def _level(value: object) -> Level:
    if value not in get_args(Level):
        raise TypeError
    return cast("Level", value)


def _confidence(value: object) -> Confidence:
    if value not in get_args(Confidence):
        raise TypeError
    return cast("Confidence", value)


def _version(value: object) -> Version:
    if not isinstance(value, str):
        raise TypeError
    try:
        return version(value)
    except ValueError as error:
        raise TypeError from error


_LIST = (_strings, "a list of strings")
SETTINGS: Mapping[str, tuple[Any, str]] = {
    "select": _LIST,
    "extend-select": _LIST,
    "ignore": _LIST,
    "per-file-ignores": (_strings_by_pattern, "a table of patterns, each with a list of strings"),
    "exclude": _LIST,
    "extend-exclude": _LIST,
    "respect-gitignore": (_truth, "true or false"),
    "jobs": (_positive, "a number from 1"),
    "cache-dir": (_path, "a path"),
    "min-level": (_level, "error, warning or info"),
    "min-confidence": (_confidence, "certain or likely"),
    "baseline": (_path, "a path"),
    "target-torch": (_version, 'the oldest torch that the code has to run with, such as "2.4"'),
}
