"""The configuration of each open file, read again when a file that it comes from changes."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from trainlint.check.baseline import Baseline, read_baseline
from trainlint.check.checking import selection_for
from trainlint.check.select import Selection
from trainlint.errors import UsageError
from trainlint.project.config import Config, find_config
from trainlint.project.target import Target

_SOURCES = ("trainlint.toml", "pyproject.toml", "requirements.txt")
_State = tuple[object, ...]


@dataclass(frozen=True)
class Settings:
    """What is in force in a folder."""

    config: Config
    selection: Selection
    target: Target
    baseline: Baseline | None


class AllSettings:
    """Settings by folder. One that cannot be read is as it was before, and `complain` is told why, once."""

    def __init__(self, complain: Callable[[str], None]) -> None:
        self._tell = complain
        self._known: dict[str, tuple[_State, Settings]] = {}
        self._said: set[str] = set()
        self.baselines: set[str] = set()
        """Files of known findings that settings name."""

    def of(self, path: str) -> Settings:
        """Those of the folder that a file is in."""
        folder = os.path.dirname(path)
        known = self._known.get(folder)
        state = self._state(folder, known[1].config.baseline if known is not None else None)
        if known is None or known[0] != state:
            if known is not None:
                self._said.clear()
            settings = self._read(folder, known[1] if known is not None else None)
            state = self._state(folder, settings.config.baseline)
            self._known[folder] = known = state, settings
        return known[1]

    @property
    def all(self) -> list[Settings]:
        """Those of every folder that was asked for."""
        return [settings for _, settings in self._known.values()]

    def complain(self, message: str) -> None:
        """Say what is wrong with a configuration, until one of them changes once."""
        if message not in self._said:
            self._said.add(message)
            self._tell(message)

    def _read(self, folder: str, before: Settings | None) -> Settings:
        try:
            settings = _settings(Path(folder))
        except UsageError as error:
            self.complain(str(error))
            return before or _without_file(Path(folder))
        if settings.config.baseline is not None:
            self.baselines.add(os.path.abspath(settings.config.baseline))
        return settings

    def _state(self, folder: str, baseline: Path | None) -> _State:
        """Changes with every file that settings of a folder come from."""
        around = [folder, *map(str, Path(folder).parents)]
        files = [os.path.join(one, name) for one in around for name in _SOURCES]
        return tuple(map(_stamp, files if baseline is None else [*files, str(baseline)]))


def _settings(folder: Path) -> Settings:
    config = find_config(folder)
    baseline = None if config.baseline is None else read_baseline(config.baseline)
    return Settings(config, selection_for((), (), config), config.target(folder), baseline)


def _without_file(folder: Path) -> Settings:
    config = Config(folder)
    return Settings(config, selection_for((), (), config), config.target(folder), None)


def _stamp(file: str) -> tuple[int, int] | None:
    try:
        status = os.stat(file)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
