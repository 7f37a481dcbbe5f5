"""A traced run from the request to the report: run, record, check the same source, join, select."""

from __future__ import annotations

import importlib.util
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from trainlint.catalogue import known
from trainlint.check.analysis import Source, analyse
from trainlint.check.checking import CACHE_DIR, selection_for
from trainlint.check.ignore import silence
from trainlint.check.select import selected
from trainlint.check.verdict import joined, not_checked
from trainlint.errors import ProgramFailed, ReportedElsewhere, UsageError
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.trace_file import NotATrace, dumped, load
from trainlint.finding import Confidence, Finding, Level, Problem
from trainlint.output.writing import check_writable, write_file
from trainlint.project.config import Config, find_config, read_config
from trainlint.project.files import SUFFIXES, shown_path
from trainlint.project.own_rules import bring_rules
from trainlint.project.scope import is_left_out
from trainlint.project.source_texts import SourceTexts
from trainlint.report import Report
from trainlint.rules import left_out
from trainlint.run.phases import judged_by_phase
from trainlint.run.ranks import collected, compared, hand_in, united, world
from trainlint.run.traced_program import Outcome, Program, folder_of, run_traced


@dataclass(frozen=True)
class RunRequest:
    """What the user asked for: a program to run, or a trace to judge again."""

    program: Program | None
    from_trace: Path | None = None
    save_trace: Path | None = None
    steps: int = 1
    max_wait: int = 100
    skip_steps: int = 0
    phase: int | None = None
    phase_seconds: float = 30.0
    probes: tuple[str, ...] = ()
    probe_seconds: float = 10.0
    timeout: float | None = None
    reports_here: bool = False
    """Whether standard output is to hold the report and nothing else, because a program reads it."""
    config_file: Path | None = None
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    min_level: Level | None = None
    min_confidence: Confidence | None = None
    jobs: int | None = None
    cache_dir: Path | None = None
    cached: bool = True
    own_rules: bool | None = None


def run(request: RunRequest, waiting: Callable[[str], None]) -> tuple[Report, SourceTexts, Outcome]:
    """The report, the source that it points into, and how the program ended.

    Raises UsageError where there is nothing to run or to judge, or nothing was recorded.
    """
    began = time.perf_counter()
    config = _config(request)
    bring_rules(config, run=request.own_rules)
    selection = selection_for(
        request.select, request.ignore, config, request.min_level, request.min_confidence
    )
    outcome = _outcome(request, waiting)
    others = outcome.others or (_of_other_ranks(outcome.recorded) if request.program is not None else {})
    recorded = outcome.recorded
    if recorded is None:
        raise _nothing(outcome, request)
    read, problems, paths = _checked(request, recorded, config)
    found: dict[Problem, None] = {}
    recorded, others = compared(recorded, others)
    if request.save_trace is not None:
        write_file(request.save_trace, dumped(recorded))
    runs = [recorded, *(one for one in others.values() if one is not None)]
    said = {one.rank.number: judged_by_phase(one, found) for one in runs}
    ran = united(said, are_ranks=recorded.rank.world > 1)
    findings = [replace(one, level=one.level or "error") for one in joined(read, ran, recorded)]
    texts = SourceTexts(may_show=None if request.from_trace is None else _is_source)
    kept = selected(
        silence(findings, [path for path in paths if _exists(path)], texts.raw, known(), left_out()),
        selection,
    )
    report = Report(
        tuple(kept),
        (*problems, *found),
        len(paths),
        time.perf_counter() - began,
        recorded,
        tuple(not_checked(kept, recorded)),
    )
    return report, texts, outcome


def _is_source(path: str) -> bool:
    """A trace that somebody was given may name any file: lines of those that are not Python are not shown."""
    return path.endswith(SUFFIXES)


def _nothing(outcome: Outcome, request: RunRequest) -> BaseException:
    """Why there is nothing to report."""
    if outcome.interrupted:
        return KeyboardInterrupt()
    if outcome.timed_out:
        return UsageError(
            f"the program was ended by --timeout after {request.timeout:g} s, before anything was recorded"
        )
    said = f"{outcome.message}: there is nothing to report"
    return ProgramFailed(said) if outcome.failed else UsageError(said)


def _of_other_ranks(recorded: Recorded | None) -> dict[int, Recorded | None]:
    """The recordings of the processes that train together with this one.

    Raises ReportedElsewhere where another process reports for this one.
    """
    rank = world()
    if rank is None:
        return {}
    if rank.number != 0:
        hand_in(recorded, rank)
        raise ReportedElsewhere
    return collected(rank)


def _config(request: RunRequest) -> Config:
    if request.config_file is not None:
        return read_config(request.config_file)
    return find_config(folder_of(request.program) if request.program is not None else Path.cwd())


def _outcome(request: RunRequest, waiting: Callable[[str], None]) -> Outcome:
    if request.from_trace is not None:
        try:
            return Outcome(load(request.from_trace))
        except OSError as error:
            raise UsageError(f"{request.from_trace} cannot be read: {error.strerror}") from error
        except NotATrace as error:
            raise UsageError(f"{request.from_trace} cannot be judged: {error}") from error
    program = request.program
    assert program is not None
    if program.kind == "script" and not os.path.isfile(program.target):
        raise UsageError(
            f"{program.target} is a folder: name a script in it, or a module with -m"
            if os.path.isdir(program.target)
            else f"{program.target} does not exist"
        )
    if request.save_trace is not None:
        check_writable(request.save_trace)
    if importlib.util.find_spec("torch") is None:
        raise UsageError(
            f"a trace needs torch, which {sys.executable} does not have: pip install 'trainlint[trace]'"
        )
    outcome = run_traced(
        program,
        steps=request.steps,
        max_wait=request.max_wait,
        timeout=request.timeout,
        waiting=waiting,
        skip_steps=request.skip_steps,
        phase=request.phase,
        phase_seconds=request.phase_seconds,
        probes=request.probes,
        probe_seconds=request.probe_seconds,
        reports_here=request.reports_here,
    )
    if outcome.recorded is None:
        return outcome
    argv = (program.target, *program.arguments)
    return replace(outcome, recorded=replace(outcome.recorded, argv=argv))


def _checked(
    request: RunRequest, recorded: Recorded, config: Config
) -> tuple[list[Finding], tuple[Problem, ...], list[str]]:
    """What the source says of every file that ran, or that was imported."""
    paths = {path for path, _ in recorded.lines if not path.startswith("<")}
    paths |= {one for one in recorded.phases[-1].files if _is_of_project(one, config)}
    if request.program is not None and request.program.kind == "script":
        paths.add(shown_path(request.program.target))
    existing = sorted(path for path in paths if _exists(path))
    analysis = analyse(
        [Source(path) for path in existing],
        jobs=request.jobs or config.jobs,
        cache_dir=(request.cache_dir or config.cache_dir or CACHE_DIR) if request.cached else None,
        concerns=config.concerns(),
    )
    missing = tuple(
        Problem(
            path,
            None,
            "the recording names this file, which does not exist: run this in the folder where it was "
            "recorded",
        )
        for path in paths - {*existing}
    )
    return list(analysis.findings), (*analysis.problems, *missing), existing


def _is_of_project(path: str, config: Config) -> bool:
    """Whether a file that was imported lies below the working directory, and is not left out by the configuration."""
    return (
        path.endswith(SUFFIXES)
        and not os.path.isabs(path)
        and _exists(path)
        and not is_left_out(path, config, respect_gitignore=config.respect_gitignore)
    )


def _exists(path: str) -> bool:
    return os.path.isfile(path)
