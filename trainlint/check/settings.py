"""What is in force for a folder, and where each value comes from."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any, NamedTuple

from trainlint.catalogue import level, names
from trainlint.check.checking import CACHE_DIR, common_folder, selection_for
from trainlint.check.select import is_on
from trainlint.errors import UsageError
from trainlint.project.config import SETTINGS, Config, find_config, read_config
from trainlint.project.files import DEFAULT_EXCLUDE, shown_path
from trainlint.project.own_rules import bring_rules, is_trusted


class Setting(NamedTuple):
    """One value. `origin` is a file, or `default`."""

    name: str
    value: Any
    origin: str


class Settings(NamedTuple):
    """All values for one folder, and the codes of the rules that are on and off."""

    folder: str
    file: str | None
    values: tuple[Setting, ...]
    on: tuple[str, ...]
    off: tuple[str, ...]


def settings_for(path: str, config_file: Path | None) -> Settings:
    """Raises UsageError for a path that does not exist, and for a configuration that `check` would refuse."""
    if not os.path.exists(path):
        raise UsageError(f"{path}: no such file or folder")
    folder = common_folder([path])
    config = read_config(config_file) if config_file else find_config(folder)
    bring_rules(config, run=is_trusted(config.root))
    selection = selection_for((), (), config)
    on = tuple(code for code in names() if is_on(code, level(code), selection))
    return Settings(
        str(folder),
        None if config.file is None else shown_path(str(config.file)),
        tuple(_setting(name, config, folder) for name in SETTINGS),
        on,
        tuple(code for code in names() if code not in on),
    )


def _setting(name: str, config: Config, folder: Path) -> Setting:
    given = name in config.given
    origin = shown_path(str(config.file)) if given else "default"
    value = getattr(config, name.replace("-", "_"))
    match name:
        case "select" if not given:
            return Setting(name, None, "default: all rules above level info")
        case "exclude" if not given:
            value = DEFAULT_EXCLUDE
        case "min-level" if not given:
            value = "info"
        case "min-confidence" if not given:
            value = "likely"
        case "jobs" if not given:
            return Setting(name, None, "default: the number of CPU cores")
        case "baseline" if not given:
            return Setting(name, None, "default: none")
        case "cache-dir":
            value = shown_path(str(value or CACHE_DIR))
        case "baseline":
            value = shown_path(str(value))
        case "rule-paths":
            value = tuple(shown_path(str(one)) for one in value)
        case "target-torch":
            target = config.target(folder)
            value = ".".join(str(one) for one in target.oldest if one != sys.maxsize)
            origin = origin if given else "default: the dependencies of the project, or the newest"
    return Setting(name, _plain(value), origin)


def _plain(value: Any) -> Any:
    """Tuples as the lists that they are in a file."""
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    return value
