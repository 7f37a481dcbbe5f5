"""The rules that there are in a folder, for commands that run none of them on code."""

from __future__ import annotations

from pathlib import Path

from trainlint.check.checking import common_folder
from trainlint.project.config import find_config, read_config
from trainlint.project.own_rules import bring_rules, is_trusted


def bring_rules_here(path: str = ".", config_file: Path | None = None, own_rules: bool | None = None) -> None:
    """Bring what a check of a folder would. Nobody is asked: without a yes, a project's own rules are left out.

    Raises UsageError for a configuration that cannot be read, and for rules that cannot be used.
    """
    config = read_config(config_file) if config_file else find_config(common_folder([path]))
    bring_rules(config, run=is_trusted(config.root) if own_rules is None else own_rules)
