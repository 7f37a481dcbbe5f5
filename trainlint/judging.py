"""Rules on facts: what every rule says of one entry point, read or recorded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from trainlint import limits
from trainlint.confidence import weighed
from trainlint.covered import without_covered
from trainlint.facts.ask.asking import Answers, answered_by
from trainlint.facts.ask.facts_of import facts_of
from trainlint.facts.model.effort import OutOfSteps
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.model.training import Training
from trainlint.finding import Finding, Open, Problem
from trainlint.reached import Reached, of_question, of_rule
from trainlint.rules import Entry, entries


@dataclass(frozen=True)
class Judged:
    """What the rules say of one entry point: from the source, or from a run.

    Args:
        findings: what is wrong.
        openings: what rules could not decide, each under its rule's code.
        unfinished: codes of rules that failed, or asked too much: these have decided nothing.
        limited: the limits that were reached on the way.
    """

    findings: tuple[Finding, ...]
    openings: tuple[Open, ...] = ()
    unfinished: frozenset[str] = frozenset()
    limited: tuple[Reached, ...] = ()


def judged(training: Training, problems: dict[Problem, None]) -> Judged:
    """What every rule says of one entry point that has facts of its kind.

    A rule that raises is a problem of that file, not of the rest. One that asks too much says nothing, and that is noted
    among the limits.
    """
    others = "S" if isinstance(training, Recorded) else "T"
    said: list[Finding | Open] = []
    limited: dict[Reached, None] = {}
    unfinished: set[str] = set()
    with answered_by(Answers()) as answers:
        for entry in entries():
            if entry.rule.by == others:
                continue
            try:
                with answers.allowing(limits.QUESTION_STEPS):
                    found = list(_said(entry, training))
                    said += found if isinstance(training, Recorded) else _each_place_once(found)
            except OutOfSteps:
                unfinished.add(entry.code)
                limited[of_rule(training.path, training.name, entry.code)] = None
            except Exception as error:
                unfinished.add(entry.code)
                problems[Problem(training.path, None, entry.failure("rule", error))] = None
    for question in answers.gave_up:
        limited[of_question(training.path, training.name, question)] = None
    return Judged(
        without_covered(one for one in said if isinstance(one, Finding)),
        tuple(dict.fromkeys(one for one in said if isinstance(one, Open))),
        frozenset(unfinished),
        tuple(limited),
    )


def _said(entry: Entry, training: Training) -> Iterator[Finding | Open]:
    rule = entry.rule
    for fact in facts_of(training, rule.fact):
        for one in rule.check(fact):
            if isinstance(one, Open):
                yield replace(one, code=entry.code)
            elif not (rule.costs and training.is_in_test(one.at)):
                named = replace(one, code=entry.code, name=entry.name, level=one.level or rule.level)
                yield weighed(named, rule, training)


def _each_place_once(said: list[Finding | Open]) -> Iterator[Finding | Open]:
    """What one rule says of one place, as one finding: five losses that one softmax feeds are its five second places."""
    found: dict[object, Finding | Open] = {}
    for one in said:
        key = one if isinstance(one, Open) else (one.at, one.subject)
        first = found.setdefault(key, one)
        if isinstance(one, Finding) and isinstance(first, Finding) and one is not first:
            places = tuple(dict.fromkeys((*first.because, *one.because)))[: limits.MAX_PLACES]
            found[key] = replace(first.agreed(one), because=max(places, first.because, key=len))
    yield from found.values()
