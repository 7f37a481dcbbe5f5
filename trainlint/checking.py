"""A check from the request to the report: configure, find files, analyse, silence, select."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from trainlint.analysis import Source, analyse
from trainlint.catalogue import names
from trainlint.config import Config, find_config, read_config
from trainlint.files import DEFAULT_EXCLUDE, python_files, shown_path
from trainlint.ignore import silence
from trainlint.progress import progress_bar
from trainlint.report import Report
from trainlint.select import Selection, code_prefixes, selected
from trainlint.source_texts import SourceTexts
from trainlint.usage_error import UsageError

_STDIN = "-"
CACHE_DIR = Path(".trainlint_cache")


@dataclass(frozen=True)
class Request:
    """What the user asked for. Where it says nothing, the configuration does."""

    paths: tuple[str, ...]
    stdin_filename: str | None = None
    config_file: Path | None = None
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    jobs: int | None = None
    cache_dir: Path | None = None
    cached: bool = True
    quiet: bool = False


def run_check(request: Request) -> tuple[Report, SourceTexts]:
    """The report, and the source that it points into.

    Raises UsageError for a wrong path, option or configuration, and where there is nothing to check.
    """
    began = time.perf_counter()
    given = _standard_input(request)
    paths = [path for path in request.paths if path != _STDIN]
    config = (
        read_config(request.config_file)
        if request.config_file
        else find_config(common_folder([*paths, *given]))
    )
    selection = selection_for(request.select, request.ignore, config)
    found = python_files(
        paths,
        root=config.root,
        exclude=(*(DEFAULT_EXCLUDE if config.exclude is None else config.exclude), *config.extend_exclude),
        respect_gitignore=config.respect_gitignore,
    )
    sources = [Source(path, given.get(path)) for path in sorted({*found.files, *given})]
    if not sources and not found.problems:
        raise UsageError(f"no Python files found in {', '.join(paths)}")
    with progress_bar(wanted=not request.quiet) as progress:
        analysis = analyse(
            sources,
            jobs=request.jobs or config.jobs,
            cache_dir=(request.cache_dir or config.cache_dir or CACHE_DIR) if request.cached else None,
            progress=progress,
        )
    problems = sorted(
        {*found.problems, *analysis.problems}, key=lambda problem: (problem.path, problem.line or 0)
    )
    texts = SourceTexts(given)
    unclear = {problem.path for problem in problems}
    readable = [source.path for source in sources if source.path not in unclear]
    findings = selected(silence(analysis.findings, readable, texts.raw, names()), selection)
    return Report(tuple(findings), tuple(problems), analysis.files, time.perf_counter() - began), texts


def _standard_input(request: Request) -> dict[str, bytes]:
    """The program text on standard input, by the path it is shown with."""
    if _STDIN not in request.paths:
        if request.stdin_filename is not None:
            raise UsageError(f"--stdin-filename needs `{_STDIN}` among the paths")
        return {}
    name = "<stdin>" if request.stdin_filename is None else shown_path(request.stdin_filename)
    return {name: sys.stdin.buffer.read()}


def common_folder(paths: list[str]) -> Path:
    """The innermost folder that holds all the paths."""
    absolute = [os.path.abspath(path) for path in paths]
    folders = [path if os.path.isdir(path) else os.path.dirname(path) for path in absolute]
    try:
        return Path(os.path.commonpath(folders))
    except ValueError:  # on different drives
        return Path.cwd()


def selection_for(select: tuple[str, ...], ignore: tuple[str, ...], config: Config) -> Selection:
    """What is on. `--select` replaces what the configuration selects and ignores, `--ignore` adds to it."""
    known = names()
    configured = str(config.file)
    ignored = code_prefixes(ignore, known, "--ignore")
    ignore_in = {
        pattern: code_prefixes(selectors, known, configured)
        for pattern, selectors in config.per_file_ignores.items()
    }
    config_select = None if config.select is None else code_prefixes(config.select, known, configured)
    extend_select = code_prefixes(config.extend_select, known, configured)
    config_ignored = code_prefixes(config.ignore, known, configured)
    if select:
        return Selection(
            select=code_prefixes(select, known, "--select"),
            ignore=ignored,
            ignore_in=ignore_in,
            root=config.root,
        )
    return Selection(config_select, extend_select, config_ignored | ignored, ignore_in, config.root)
