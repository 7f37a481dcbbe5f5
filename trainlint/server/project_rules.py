"""Rules of the projects that are open. One server has all of them, and each project only hears of its own."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from trainlint.errors import BadRule, UsageError
from trainlint.finding import Finding
from trainlint.project.config import Config
from trainlint.project.own_rules import TRUSTED, installed, is_trusted, of_project
from trainlint.rules import Brought, all_entries, bring, brought, shown
from trainlint.server.settings import AllSettings


class ProjectRules:
    """Nobody can be asked whether a project's own rules run: they do where the environment says so."""

    def __init__(self, settings: AllSettings) -> None:
        self._settings = settings
        self._failing: set[Brought] = set()

    def look_again(self, paths: Iterable[str]) -> bool:
        """Bring the rules of the projects of these files; whether they are others than before."""
        before = brought()
        wanted: list[Brought] = []
        try:
            wanted += installed()
            for config in self._configs(paths):
                wanted += self._of(config)
            bring(one._replace(runs=one.runs and one not in self._failing) for one in wanted)
        except UsageError as error:
            self._settings.complain(str(error))
            bring(one._replace(runs=False) for one in before)
        return brought() != before

    def give_up(self, error: BadRule) -> None:
        """Say what is wrong with a rule, and leave out all that are not trainlint's own until they change."""
        self._settings.complain(str(error))
        self._failing.update(one for one in brought() if one.runs)
        bring(one._replace(runs=False) for one in brought())

    def is_of_here(self, finding: Finding) -> bool:
        """Whether a finding is of a rule that the project of its file knows."""
        by = next((one.brought for one in all_entries() if one.code == finding.code), None)
        if by is None or by in self._packages():
            return True
        return Path(by.folder) in self._settings.of(finding.at.path).config.rule_paths

    def _packages(self) -> list[Brought]:
        named = {str(one) for settings in self._settings.all for one in settings.config.rule_paths}
        return [one for one in brought() if one.folder not in named]

    def _configs(self, paths: Iterable[str]) -> list[Config]:
        return list({one.file: one for one in (self._settings.of(path).config for path in paths)}.values())

    def _of(self, config: Config) -> list[Brought]:
        runs = is_trusted(config.root)
        if config.rule_paths and not runs:
            self._settings.complain(
                f"{shown(config.file or config.root)}: `rule-paths` names rules of its own, which is code: they are "
                f"left out unless the environment variable {TRUSTED} lists {config.root}"
            )
        return list(of_project(config, run=runs))
