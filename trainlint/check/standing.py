"""Whether a rule is on in a folder, and what decides that."""

from __future__ import annotations

from collections.abc import Iterable

from trainlint.catalogue import confidence, known, level
from trainlint.check.checking import selection_for
from trainlint.check.select import LEVELS, code_prefix, is_on
from trainlint.project.config import Config
from trainlint.project.files import shown_path
from trainlint.project.own_rules import TRUSTED
from trainlint.rules import entries, left_out


def standing(code: str, config: Config) -> str:
    """A sentence or two, in Markdown. Raises UsageError for a configuration that selects what is not there."""
    if code in left_out():
        return f"Off here, as a rule of the project's own only runs with `--own-rules`, or if `{TRUSTED}` lists the project."
    selection = selection_for((), (), config)
    if not is_on(code, level(code), selection):
        return f"Off here, as {_why_off(code, config)}."
    if confidence(code) == "likely" and selection.min_confidence == "certain":
        return f"Off here, as its findings are only likely, and `min-confidence` in {_file(config)} is `certain`."
    but = [
        f"off in `{pattern}`"
        for pattern, selectors in config.per_file_ignores.items()
        if _names(code, selectors)
    ]
    only_run = any(one.code == code and one.rule.by == "T" for one in entries())
    said = [
        _why_on(code, config),
        *but,
        *(["only `trainlint run` can see what it finds"] if only_run else []),
    ]
    return f"On here {'; '.join(said)}."


def _why_on(code: str, config: Config) -> str:
    named = _names(code, config.select or ()) or _names(code, config.extend_select)
    return f"as {_file(config)} selects `{named}`" if named else "by default"


def _why_off(code: str, config: Config) -> str:
    own, least = level(code), config.min_level or "info"
    if LEVELS.index(own) < LEVELS.index(least):
        return f"its level is {own}, and `min-level` in {_file(config)} is `{least}`"
    if named := _names(code, config.ignore):
        return f"{_file(config)} ignores `{named}`"
    if config.select is not None:
        return f"{_file(config)} does not select it"
    return f"it is of level info, which is off unless it is selected: `--extend-select {code}`"


def _names(code: str, selectors: Iterable[str]) -> str:
    """The longest selector that stands for a rule; empty if none does."""
    prefixes = {one: code_prefix(one, known()) for one in selectors}
    meant = [one for one, prefix in prefixes.items() if prefix is not None and code.startswith(prefix)]
    return max(meant, key=lambda one: len(prefixes[one] or ""), default="")


def _file(config: Config) -> str:
    return "the configuration" if config.file is None else f"`{shown_path(str(config.file))}`"
