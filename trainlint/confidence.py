"""How sure a finding is: the one place that decides.

A recorded run shows what it shows. What is read is as sure as its rule has proved to be on unseen code, and only likely
if what it is about is known from nothing but its use.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from trainlint.facts.ask.concerned import concerned
from trainlint.facts.model.events.event import Escape, Event
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.model.training import Training
from trainlint.finding import Finding
from trainlint.rule import Rule

_CUT = "the program is too large to follow all of its calls: what is missing may be in one of the others"
_OF_THE_RULE = "fewer than nine in ten findings of this rule were right on code that was new to it"


def weighed(finding: Finding, rule: Rule[Any], training: Training) -> Finding:
    """A finding of a rule on one entry point, with how sure it is, and why it is not surer."""
    if finding.confidence is not None:
        return finding
    doubt = "" if isinstance(training, Recorded) else next(_doubts(finding, rule, training), "")
    return replace(finding, confidence="likely" if doubt else "certain", doubt=doubt)


def _doubts(finding: Finding, rule: Rule[Any], training: Training) -> Iterator[str]:
    places = {finding.at, *(because.at for because in finding.because)}
    for event in training.events(Event):
        if event.at in places and not isinstance(event, Escape):
            yield from filter(None, (one.told_by for one in concerned(event)))
    yield from (one.told_by for one in training.objects if one.is_given and one.told_by)
    if rule.absence and training.is_cut:
        yield _CUT
    if rule.confidence == "likely":
        yield _OF_THE_RULE
