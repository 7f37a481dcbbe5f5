"""Rules on facts: what every rule says of one entry point, read or recorded."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from trainlint import limits
from trainlint.facts.ask.asking import Answers, OutOfSteps, answered_by
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.model.training import Training
from trainlint.finding import Finding, Problem
from trainlint.reached import Reached, of_question, of_rule
from trainlint.rules import Entry, entries


def judged(
    training: Training, problems: dict[Problem, None], limited: dict[Reached, None] | None = None
) -> list[Finding]:
    """What every rule says of one entry point that has facts of its kind: from the source, or from a run.

    A rule that raises is a problem of that file, not of the rest. One that asks too much says nothing, and that is noted
    among what is `limited`.
    """
    limited = {} if limited is None else limited
    others = "S" if isinstance(training, Recorded) else "T"
    found: list[Finding] = []
    with answered_by(Answers()) as answers:
        for entry in entries():
            if entry.rule.by == others:
                continue
            try:
                with answers.allowing(limits.QUESTION_STEPS):
                    found += list(_findings(entry, training))
            except OutOfSteps:
                limited[of_rule(training.path, training.name, entry.code)] = None
            except Exception as error:
                where = traceback.extract_tb(error.__traceback__)[-1]
                said = f"rule {entry.code} failed, which is a bug in it: {error!r} ({Path(where.filename).name}:{where.lineno})"
                problems[Problem(training.path, None, said)] = None
    for question in answers.gave_up:
        limited[of_question(training.path, training.name, question)] = None
    return found


def _findings(entry: Entry, training: Training) -> Iterator[Finding]:
    rule = entry.rule
    for fact in training.facts(rule.fact):
        for finding in rule.check(fact):
            yield replace(finding, code=entry.code, name=entry.name, level=finding.level or rule.level)
