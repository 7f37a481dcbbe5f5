"""Rules on facts: what every rule says of one entry point, read or recorded."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from trainlint.facts.recorded import Recorded
from trainlint.facts.training import Training
from trainlint.finding import Finding, Problem
from trainlint.rules import Entry, entries


def judged(training: Training, problems: dict[Problem, None]) -> Iterator[Finding]:
    """What every rule says of one entry point that has facts of its kind: from the source, or from a run.

    A rule that raises is a problem of that file, not of the rest.
    """
    others = "S" if isinstance(training, Recorded) else "T"
    for entry in entries():
        if entry.rule.by == others:
            continue
        try:
            yield from _findings(entry, training)
        except Exception as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            said = (
                f"rule {entry.code} failed, which is a bug in trainlint: {error!r} "
                f"({Path(where.filename).name}:{where.lineno})"
            )
            problems[Problem(training.path, None, said)] = None


def _findings(entry: Entry, training: Training) -> Iterator[Finding]:
    rule = entry.rule
    for fact in training.facts(rule.fact):
        for finding in rule.check(fact):
            yield replace(finding, code=entry.code, name=entry.name, level=finding.level or rule.level)
