"""What the rules say of files that belong together."""

from __future__ import annotations

import gc
import sys
import traceback
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from trainlint.cache import Checked
from trainlint.facts.training import Training
from trainlint.finding import Finding, Problem
from trainlint.program import syntax as s
from trainlint.program.evaluator import Evaluator
from trainlint.program.project import Project
from trainlint.program.roots import trainings
from trainlint.rules import Entry, entries

_DEEP = 8_000
"""Python frames that evaluating may nest: a few for each call and each nested expression."""


def check_group(modules: Mapping[str, s.Module]) -> Checked:
    """Evaluate files that belong together, and let every rule look at what happens in them."""
    collecting = gc.isenabled()
    gc.disable()  # values only grow until the group is done
    depth = sys.getrecursionlimit()
    sys.setrecursionlimit(max(depth, _DEEP))
    found: dict[tuple[str, object], Finding] = {}
    problems: dict[Problem, None] = {}
    try:
        for training in trainings(Evaluator(Project(modules)), sorted(modules), problems):
            for one in judged(training, problems):
                found.setdefault((one.code, one.at), one)
    finally:
        sys.setrecursionlimit(depth)
        if collecting:
            gc.enable()
    return Checked(tuple(found.values()), tuple(problems))


def judged(training: Training, problems: dict[Problem, None]) -> Iterator[Finding]:
    """What every rule says of one entry point. A rule that raises is a problem of that file, not of the rest."""
    for entry in entries():
        try:
            yield from _findings(entry, training)
        except Exception as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            said = f"rule {entry.code} failed, which is a bug in it: {error!r} ({Path(where.filename).name}:{where.lineno})"
            problems[Problem(training.path, None, said)] = None


def _findings(entry: Entry, training: Training) -> Iterator[Finding]:
    rule = entry.rule
    for fact in training.facts(rule.fact):
        for finding in rule.check(fact):
            yield replace(finding, code=entry.code, name=entry.name, level=finding.level or rule.level)
