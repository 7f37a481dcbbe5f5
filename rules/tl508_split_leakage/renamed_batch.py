"""Evaluation in the middle of an epoch that gives its batches the name of the batch that is trained on after it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.flow import is_made_of
from trainlint.facts.ask.loaders import in_evaluation
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.events.steps import Backward
from trainlint.facts.model.nodes import Loop
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Choice, Op, Value

from .last_batch import KEEPS_BATCH


def trained_on_held_out(training: Training) -> Iterator[tuple[Loop, Backward]]:
    """Each loop that evaluates, and the backward of a loss that is made of its last batch, if it has run, and else of the
    batch of the loop around it."""
    taught = {loop for one in training.events(Backward) for loop in one.loops}
    asked = {one.loops[-1] for one in training.events(Forward) if len(one.loops) > 1}
    told: set[int] = set()
    for backward in training.events(Backward) if asked - taught else ():
        behind = list(reached([backward.loss]))
        drawn_there = (one for one in behind if isinstance(one, Op) and one.name == "iterate" and one.loops)
        held_out = {
            one.uid for one in drawn_there if one.loops[-1] in asked - taught and _evaluates(training, one)
        }
        for one in behind if held_out else ():
            drawn = list(_drawn(one)) if isinstance(one, Choice) else []
            own = [each for each in drawn if each.loops[-1] in backward.loops]
            for other in drawn:
                loop = training.loops.get(other.loops[-1])
                if loop is None or loop.number in told or other.uid not in held_out:
                    continue
                if any(not is_made_of(other, each) for each in own):
                    told.add(loop.number)
                    yield loop, backward


def _drawn(value: Value) -> Iterator[Op]:
    """What loops hand out that a value may be, or be a part of."""
    for one in reached([value], _kept):
        if isinstance(one, Op) and one.name == "iterate" and one.loops:
            yield one


def _kept(value: Value) -> Iterable[Value]:
    match value:
        case Choice():
            return value.parts()
        case Op(name=name) if name in KEEPS_BATCH:
            return value.inputs[:1]
    return ()


def _evaluates(training: Training, batch: Op) -> bool:
    """Whether a model is only asked about a batch in its own loop."""
    return any(
        (one.records is False or in_evaluation(training, one))
        and any(is_made_of(given, batch) for given in one.given)
        for one in training.inside(batch.loops[-1], Forward)
    )
