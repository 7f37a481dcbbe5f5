"""A check from the request to the report: configure, find files, analyse, silence, select, withhold."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from trainlint.catalogue import known
from trainlint.check.analysis import Source, analyse
from trainlint.check.callers import Callers, callers, files_of_project
from trainlint.check.ignore import silence
from trainlint.check.select import Selection, code_prefixes, selected
from trainlint.check.settled import settled
from trainlint.check.unused import informed
from trainlint.check.withholding import limits, withhold
from trainlint.errors import UsageError
from trainlint.finding import Confidence, Finding, Level
from trainlint.output.progress import progress_bar
from trainlint.program.incremental.shards import Shard
from trainlint.project.config import Config, find_config, read_config
from trainlint.project.files import python_files, shown_path
from trainlint.project.own_rules import bring_rules
from trainlint.project.scope import exclude_patterns, from_here, is_left_out
from trainlint.project.source_texts import SourceTexts
from trainlint.report import Report, Withheld
from trainlint.rules import left_out

STDIN = "-"
CACHE_DIR = Path(".trainlint_cache")


@dataclass(frozen=True)
class Request:
    """What the user asked for. Where it says nothing, the configuration does."""

    paths: tuple[str, ...]
    stdin_filename: str | None = None
    force_exclude: bool = False
    importers: bool = True
    """Whether files of the project that import the named files are read with them."""
    config_file: Path | None = None
    select: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    exclude: tuple[str, ...] | None = None
    """Patterns that start from the working directory, as those of `extend_exclude` do."""
    extend_exclude: tuple[str, ...] = ()
    min_level: Level | None = None
    min_confidence: Confidence | None = None
    baseline: Path | None = None
    write_baseline: bool = False
    changed_since: str | None = None
    jobs: int | None = None
    cache_dir: Path | None = None
    cached: bool = True
    quiet: bool = False
    shard: Shard | None = None
    """The part of the check that is done here; None for all of it."""
    own_rules: bool | None = None
    """Whether the rules run that the project's configuration names; None leaves it to the environment."""
    texts: Mapping[str, bytes] = field(default_factory=dict)
    """What stands in for the content of files, by their paths as they are shown."""


def run_check(request: Request) -> tuple[Report, SourceTexts]:
    """The report, and the source that it points into.

    Raises UsageError for a wrong path, option or configuration, and where there is nothing to check.
    """
    began = time.perf_counter()
    given = _standard_input(request)
    paths = [path for path in request.paths if path != STDIN]
    folder = common_folder([*paths, *given])
    config = _as_asked(
        read_config(request.config_file) if request.config_file else find_config(folder), request
    )
    bring_rules(config, run=request.own_rules)
    passed_by = _passed_by([*paths, *given], config) if request.force_exclude else set()
    selection = selection_for(
        request.select,
        request.ignore,
        config,
        request.min_level,
        request.min_confidence,
        request.extend_select,
    )
    found = python_files(
        [path for path in paths if path not in passed_by],
        root=config.root,
        exclude=exclude_patterns(config),
        respect_gitignore=config.respect_gitignore,
    )
    if given and request.changed_since is not None:
        raise UsageError("--changed-only only works with files on disk, not with standard input")
    if request.shard is not None and request.write_baseline:
        raise UsageError("--shard cannot be combined with --write-baseline: a baseline is of the whole")
    held = limits(request.baseline or config.baseline, request.write_baseline, request.changed_since, folder)
    texts = SourceTexts({**given, **request.texts})
    programs = {path: texts.program(path) for path in sorted({*found.files, *given} - passed_by)}
    sources = [Source(path, text) for path, (text, _) in programs.items()]
    broken = [problem for _, problems in programs.values() for problem in problems]
    if not sources and not found.problems and not passed_by:
        raise UsageError(f"no Python files or notebooks found in {', '.join(paths)}")
    around = _callers(request, given, programs, config)
    with progress_bar(wanted=not request.quiet) as progress:
        analysis = analyse(
            sources,
            callers=around.files,
            jobs=request.jobs or config.jobs,
            cache_dir=(request.cache_dir or config.cache_dir or CACHE_DIR) if request.cached else None,
            concerns=config.concerns(),
            progress=progress,
            shard=request.shard,
        )
    problems = sorted(
        {
            *(one for one in broken if one.path not in analysis.not_here),
            *found.problems,
            *map(texts.located_problem, analysis.problems),
        },
        key=lambda problem: (problem.path, problem.file_line or 0),
    )
    unclear = {problem.path for problem in problems}
    here = {source.path for source in sources} - analysis.not_here
    readable = here - unclear
    elsewhere = {one.at.path for one in (*analysis.findings, *analysis.imported)} - programs.keys()
    excluded = {
        path for path in elsewhere if is_left_out(path, config, respect_gitignore=config.respect_gitignore)
    }
    kept = [one for one in analysis.findings if one.at.path not in excluded]
    inside = settled(kept, texts.raw, lambda: files_of_project(folder, config))
    weighed = informed(inside, texts.raw, lambda: files_of_project(folder, config))
    everything = silence(weighed, readable, texts.source, known(), left_out())
    beside = [one for one in analysis.imported if one.at.path not in excluded]
    lowered = [pair for pair in zip(inside, weighed, strict=True) if pair[0] is not pair[1]]
    before, after = (
        (_told(some, texts, selection) for some in zip(*lowered, strict=True)) if lowered else (0, 0)
    )
    report = Report(
        tuple(selected(everything, selection)),
        tuple(problems),
        analysis.files - len(analysis.not_here),
        time.perf_counter() - began,
        elsewhere=frozenset(elsewhere),
        limited=(*around.limited, *analysis.limited),
        withheld=Withheld(imported=_told(beside, texts, selection), unused=before - after),
        paths=tuple(programs),
        entry_points=analysis.entry_points,
    )
    return withhold(report, everything, held, texts, readable), texts


def _told(findings: Iterable[Finding], texts: SourceTexts, selection: Selection) -> int:
    """How many of some findings the user would be told of."""
    wanted = selected(silence(findings, (), texts.source, known(), left_out()), selection)
    return sum(not one.suppressed for one in wanted)


def _as_asked(config: Config, request: Request) -> Config:
    """The configuration with what the command line says of files."""
    exclude = None if request.exclude is None else from_here(request.exclude, config.root)
    return replace(
        config,
        exclude=config.exclude if exclude is None else exclude,
        extend_exclude=(
            *(config.extend_exclude if exclude is None else ()),
            *from_here(request.extend_exclude, config.root),
        ),
    )


def _callers(
    request: Request, given: Mapping[str, bytes], programs: Mapping[str, object], config: Config
) -> Callers:
    """The files that import those that were named one by one. A folder that is named holds its own callers."""
    if not request.importers:
        return Callers((), ())
    one_by_one = {shown_path(path) for path in request.paths if os.path.isfile(path)} | given.keys()
    named = sorted(path for path in one_by_one & programs.keys() if path.endswith(".py"))
    found = callers(named, common_folder(named), config)
    return found._replace(files=tuple(path for path in found.files if path not in programs))


def _passed_by(paths: Sequence[str], config: Config) -> set[str]:
    """Those that are excluded. What git ignores counts only where nobody has named it."""
    return {path for path in paths if is_left_out(path, config, respect_gitignore=False)}


def _standard_input(request: Request) -> dict[str, bytes]:
    """The program text on standard input, by the path it is shown with."""
    if STDIN not in request.paths:
        if request.stdin_filename is not None:
            raise UsageError(f"--stdin-filename needs `{STDIN}` among the paths")
        return {}
    name = stdin_name(request)
    return {name: request.texts[name] if name in request.texts else sys.stdin.buffer.read()}


def stdin_name(request: Request) -> str:
    """The path that standard input is shown with."""
    return "<stdin>" if request.stdin_filename is None else shown_path(request.stdin_filename)


def common_folder(paths: Sequence[str]) -> Path:
    """The innermost folder that holds all the paths."""
    absolute = [os.path.abspath(path) for path in paths]
    folders = [path if os.path.isdir(path) else os.path.dirname(path) for path in absolute]
    try:
        return Path(os.path.commonpath(folders))
    except ValueError:  # on different drives
        return Path.cwd()


def selection_for(
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    config: Config,
    min_level: Level | None = None,
    min_confidence: Confidence | None = None,
    more: tuple[str, ...] = (),
) -> Selection:
    """What is on. `--select` replaces what the configuration selects and ignores, `--ignore` and `more` add to it."""
    there = known()
    configured = str(config.file)
    ignored = code_prefixes(ignore, there, "--ignore")
    ignore_in = {
        pattern: code_prefixes(selectors, there, configured)
        for pattern, selectors in config.per_file_ignores.items()
    }
    config_select = None if config.select is None else code_prefixes(config.select, there, configured)
    also = code_prefixes(more, there, "--extend-select")
    extend_select = code_prefixes(config.extend_select, there, configured) | also
    config_ignored = code_prefixes(config.ignore, there, configured)
    least = min_level or config.min_level or "info"
    surest = min_confidence or config.min_confidence or "likely"
    if select:
        return Selection(
            select=code_prefixes(select, there, "--select") | also,
            ignore=ignored,
            ignore_in=ignore_in,
            root=config.root,
            min_level=least,
            min_confidence=surest,
        )
    return Selection(
        config_select, extend_select, config_ignored | ignored, ignore_in, config.root, least, surest
    )
