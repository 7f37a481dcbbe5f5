"""Source files to findings: read, link, evaluate, and let every rule look at the facts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from trainlint.finding import Finding, Problem
from trainlint.rules import entries


@dataclass(frozen=True)
class Source:
    """One file to check: its path as the user sees it, and its bytes where they do not come from disk."""

    path: str
    text: bytes | None = None


@dataclass(frozen=True)
class Analysis:
    """What every rule found, sorted by place and not yet selected or suppressed, and what could not be checked."""

    findings: tuple[Finding, ...]
    problems: tuple[Problem, ...]
    files: int


def analyse(
    sources: Sequence[Source],
    *,
    jobs: int | None = None,
    cache_dir: Path | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Analysis:
    """Check files as one program; modules of it that they import are read too."""
    import gc
    import sys

    from trainlint.program.evaluator import Evaluator
    from trainlint.program.loading import load
    from trainlint.program.project import Project
    from trainlint.program.roots import trainings

    gc.disable()
    sys.setrecursionlimit(8000)
    loaded = load(sources)
    evaluator = Evaluator(Project(loaded.modules))
    checked = {source.path for source in sources}
    found: dict[Any, Finding] = {}
    problems = list(loaded.problems)
    for training in trainings(evaluator, [p for p in loaded.modules]):
        for one in _judged(training, problems):
            found.setdefault((one.code, one.at), one)
    return Analysis(
        tuple(
            sorted(
                (one for one in found.values() if one.at.path in checked), key=lambda one: (one.at, one.code)
            )
        ),
        tuple(problems),
        len(sources),
    )


def _judged(training: Any, problems: list[Problem]) -> Iterator[Finding]:
    for entry in entries():
        rule = entry.rule
        for fact in training.facts(rule.fact):
            for finding in rule.check(fact):
                yield replace(finding, code=entry.code, name=entry.name, level=finding.level or rule.level)
