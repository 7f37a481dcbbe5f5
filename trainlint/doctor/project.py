"""What is in force in a folder, what a check of it sees, and what keeps rules silent."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from trainlint.cache.folder import size_of
from trainlint.check.checking import CACHE_DIR, Request, common_folder, run_check
from trainlint.check.settings import Settings, settings_for
from trainlint.doctor.row import Row, Sections
from trainlint.errors import UsageError
from trainlint.program.source.prefilter import speaks_of_training
from trainlint.project.config import Config, find_config, read_config
from trainlint.project.files import shown_path
from trainlint.project.own_rules import TRUSTED, is_trusted
from trainlint.project.source_texts import SourceTexts
from trainlint.reached import split
from trainlint.report import Report
from trainlint.rules import entries, left_out

_IMPORTED = re.compile(
    rb"^[ \t]*(?:from|import)[ \t]+(accelerate|deepspeed|lightning|pytorch_lightning|transformers|trl|ignite|fastai)\b",
    re.MULTILINE,
)
_FEW = 5
"""How many of a list are named."""


def seen_here(path: str, config_file: Path | None) -> Sections:
    """Configuration and cache of a folder, what a check sees in it, and what it does not judge."""
    try:
        settings = settings_for(path, config_file)
        config = read_config(config_file) if config_file else find_config(common_folder([path]))
    except UsageError as error:
        return {"Configuration": [Row("file", str(error), "wrong")]}
    found = {"Configuration": list(_configuration(settings, config))}
    request = Request((path,), config_file=config_file, own_rules=is_trusted(config.root), quiet=True)
    try:
        report, texts = run_check(request)
    except UsageError as error:
        return {**found, "Code": [Row("files", str(error), "wrong")]}
    return {
        **found,
        "Code": list(_code(report, texts)),
        "What keeps rules silent here": list(_silent(settings, config, report)),
    }


def _configuration(settings: Settings, config: Config) -> Iterator[Row]:
    yield Row("file", settings.file or "none; everything is as by default")
    values = {one.name: one for one in settings.values}
    target = values["target-torch"]
    yield Row("target torch", f"{target.value} ({target.origin})")
    yield Row("rules", f"{len(settings.on)} on, {len(settings.off)} off")
    folder = config.cache_dir or CACHE_DIR
    where = shown_path(str(folder))
    entries, size = size_of(folder)
    parent = next(one for one in (folder, *folder.absolute().parents) if one.exists())
    if not os.access(parent, os.W_OK):
        yield Row("cache", f"{where} cannot be written, so every check starts from nothing", "note")
    else:
        yield Row(
            "cache", f"{where}: {entries} entries, {size / 1e6:.1f} MB" if entries else f"{where}: empty"
        )


def _code(report: Report, texts: SourceTexts) -> Iterator[Row]:
    raw = {path: texts.raw(path) for path in report.paths}
    train = [path for path, text in raw.items() if speaks_of_training(text)]
    yield Row("files", f"{_count(len(raw), 'file')}, of which {len(train)} speak of training")
    yield Row(
        "entry points", f"{report.entry_points}: bodies of files, and functions that nobody in sight calls"
    )
    found = Counter(name.decode() for text in raw.values() for name in {*_IMPORTED.findall(text)})
    listed = ", ".join(f"{name} in {_count(number, 'file')}" for name, number in found.most_common())
    yield Row("frameworks", listed or "none is imported")
    for problem in report.problems[:_FEW]:
        yield Row("cannot be read", f"{problem.shown}: {problem.message}", "wrong")


def _silent(settings: Settings, config: Config, report: Report) -> Iterator[Row]:
    run_alone = [one for one in entries() if one.rule.by == "T"]
    yield Row("only a run shows", f"{_count(len(run_alone), 'rule')}: trainlint run train.py")
    if settings.off:
        yield Row(
            "off", f"{_listed(settings.off)}: by level or configuration; `trainlint config` says more", "note"
        )
    for pattern, selectors in config.per_file_ignores.items():
        yield Row("off in some files", f"{', '.join(selectors)} in {pattern}", "note")
    if left_out():
        said = f"{_listed(left_out())}: rules of the project's own run if {TRUSTED} lists {config.root}"
        yield Row("left out", said, "note")
    if config.min_level not in (None, "info"):
        yield Row("min-level", f"{config.min_level}: nothing below it is shown", "note")
    if config.min_confidence == "certain":
        yield Row("min-confidence", "certain: what is only likely is not shown", "note")
    suppressed = len(report.findings) - len(report.shown)
    if suppressed:
        yield Row("comments", f"{_count(suppressed, 'finding')} silenced by `# trainlint: ignore`", "note")
    if report.withheld.known:
        yield Row("baseline", f"{_count(report.withheld.known, 'finding')} in it", "note")
    limits, strangers = split(report.limited)
    yield from _named("limits reached", [f"{one.where}: {one.limit}, {one.lost}" for one in limits])
    yield from _named("not judged", [f"{one.where}: {one.lost}" for one in strangers])


def _named(name: str, said: Sequence[str]) -> Iterator[Row]:
    """A row for each of the first, and one for how many more there are."""
    yield from (Row(name, one, "note") for one in said[:_FEW])
    if len(said) > _FEW:
        yield Row(name, f"{len(said) - _FEW} more: trainlint check --verbose", "note")


def _listed(names: Iterable[str]) -> str:
    every = list(names)
    more = len(every) - _FEW
    return ", ".join(every[:_FEW]) + (f" and {more} more" if more > 0 else "")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
