"""Experiments on copies of the models, after the recorded step."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from functools import partial

from trainlint.facts.seen.blind_spots import NotTried
from trainlint.facts.seen.probes import DropsInEvaluation, Probe
from trainlint.facts.seen.resumes import Reloaded
from trainlint.facts.seen.targets import Aligned
from trainlint.trace.measure.copies import unnoticed
from trainlint.trace.measure.experiments.alignment import aligned
from trainlint.trace.measure.experiments.batch import batch
from trainlint.trace.measure.experiments.causal import causal
from trainlint.trace.measure.experiments.dropout import dropout
from trainlint.trace.measure.experiments.given import Given, models_given
from trainlint.trace.measure.experiments.repeat import repeat
from trainlint.trace.measure.experiments.resumed import resumed
from trainlint.trace.measure.own_state import unchanged
from trainlint.trace.watch.recorder import Recorder

_MOST_MODELS = 4
_LONGEST = 10.0
"""Seconds after which no other run is begun."""


def experiments(recorder: Recorder) -> Iterator[Probe | Aligned | DropsInEvaluation | NotTried | Reloaded]:
    """What each experiment has shown; nothing of those that could not be made."""
    until = time.monotonic() + _LONGEST
    for given in itertools.islice(models_given(recorder), _MOST_MODELS):
        shift = recorder.shifts.found.get(id(given.model))
        other = recorder.shifts.others.get(id(given.model)) if shift is None else None
        for make in (
            partial(causal, given=given, shift=shift) if shift is not None else None,
            partial(aligned, given=given, shift=shift or other) if shift or other else None,
            partial(batch, given=given, size=recorder.batch.size),
            partial(repeat, given=given) if recorder.is_seeded else None,
        ):
            found = None
            if make is not None and time.monotonic() < until:
                with recorder.aside(), unnoticed():
                    try:
                        found = make(recorder)
                    except (Exception, SystemExit):  # the program's own code, called as it may not expect
                        found = None
            if found is not None:
                yield found
        if time.monotonic() < until:
            yield from _dropouts(recorder, given)
    yield from _resumed(recorder)


def _dropouts(recorder: Recorder, given: Given) -> list[DropsInEvaluation]:
    with recorder.aside(), unnoticed():
        try:
            return list(dropout(recorder, given))
        except (Exception, SystemExit):  # the program's own code, called as it may not expect
            return []


def _resumed(recorder: Recorder) -> list[Reloaded]:
    with recorder.aside(), unchanged(recorder), unnoticed():
        try:
            return list(resumed(recorder))
        except (Exception, SystemExit):  # likewise
            return []
