"""Plain numbers of Python's, through which no recorder follows a gradient."""

from __future__ import annotations

from collections.abc import Iterator

from trainlint.facts.api.torch_api import REBUILDS
from trainlint.facts.ask.flow import made_of
from trainlint.facts.model.events import Backward
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Op
from trainlint.facts.seen.blind_spots import Numbered
from trainlint.finding import Open


def perhaps_of_outputs(training: Training) -> Iterator[Open]:
    """New tensors in the losses of a run that turned tensors with gradients into plain numbers: whether the ones are
    made of the others is not shown."""
    if not training.facts(Numbered):
        return
    for backward in training.events(Backward):
        for one in made_of(backward.loss):
            if isinstance(one, Op) and one.name in REBUILDS and one.at is not None:
                yield Open(one.at, "which numbers this tensor is made of")
