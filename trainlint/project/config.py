"""The user's configuration: `[tool.trainlint]` in pyproject.toml, or trainlint.toml."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, cast, get_args

from trainlint.errors import UsageError
from trainlint.finding import Confidence, Finding, Level, Version
from trainlint.project.small_files import text_of
from trainlint.project.suggestion import did_you_mean
from trainlint.project.target import NEWEST, VERSION, Target, target_near, version

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
    rule_paths: tuple[Path, ...] = ()
    """Folders of rules of the project's own."""
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
        setting = SETTINGS[key]
        try:
            values[key.replace("-", "_")] = setting.read(value)
        except TypeError as error:
            raise UsageError(f"{file}: `{key}` must be {setting.wanted}") from error
    for name in ("cache_dir", "baseline"):
        if name in values:
            values[name] = file.parent / values[name]
    if "rule_paths" in values:
        values["rule_paths"] = tuple((file.parent / one).resolve() for one in values["rule_paths"])
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


class Setting(NamedTuple):
    """One key of a configuration.

    Args:
        read: gives its value, or raises TypeError.
        wanted: what its value must be, in words.
        schema: the same as a JSON schema.
        about: what it is for.
    """

    read: Callable[[object], Any]
    wanted: str
    schema: Mapping[str, Any]
    about: str


def _list(about: str, wanted: str = "a list of strings") -> Setting:
    return Setting(_strings, wanted, {"type": "array", "items": {"type": "string"}}, about)


def _one_path(about: str) -> Setting:
    return Setting(_path, "a path", {"type": "string"}, about)


def _one_of(read: Callable[[object], Any], kind: Any, wanted: str, about: str) -> Setting:
    return Setting(read, wanted, {"enum": list(get_args(kind))}, about)


_BY_PATTERN = {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "string"}}}
SETTINGS: Mapping[str, Setting] = {
    "select": _list("The rules that are on: codes, prefixes of codes, names, or ALL."),
    "extend-select": _list("Rules that are on in addition to `select` or its default."),
    "ignore": _list("Rules that are off."),
    "per-file-ignores": Setting(
        _strings_by_pattern,
        "a table of patterns, each with a list of strings",
        _BY_PATTERN,
        "Rules that are off in the files that a pattern of .gitignore's kind matches.",
    ),
    "exclude": _list("Patterns of files and folders that are not checked, instead of the default."),
    "extend-exclude": _list("Patterns of files and folders that are not checked, in addition to `exclude`."),
    "respect-gitignore": Setting(
        _truth, "true or false", {"type": "boolean"}, "Whether files that git ignores are not checked."
    ),
    "jobs": Setting(
        _positive, "a number from 1", {"type": "integer", "minimum": 1}, "The number of processes."
    ),
    "cache-dir": _one_path("The folder of the cache."),
    "min-level": _one_of(_level, Level, "error, warning or info", "No findings below this level."),
    "min-confidence": _one_of(
        _confidence, Confidence, "certain or likely", "No findings that are less sure than this."
    ),
    "baseline": _one_path("A file of known findings, which are not reported."),
    "rule-paths": _list(
        "Folders of rules of the project's own, which are code: they run with --own-rules.",
        "a list of folders, each with a folder for each rule",
    ),
    "target-torch": Setting(
        _version,
        'the oldest torch that the code has to run with, such as "2.4"',
        {"type": "string", "pattern": rf"^\s*{VERSION.pattern}\s*$"},
        "The oldest torch that the code has to run with.",
    ),
}
