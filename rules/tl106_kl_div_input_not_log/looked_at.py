"""Divergences that the program only looks at: nothing is trained by them, so their scale harms nothing."""

from __future__ import annotations

from collections.abc import Iterable

from trainlint.facts.ask.asking import reached
from trainlint.facts.model.events.event import Escape, Returned
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.events.operations import ToHost
from trainlint.facts.model.events.steps import Backward
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Op, Value

_NUMBERS = frozenset("item tolist numpy float int".split())


def is_only_looked_at(training: Training, loss: LossCall) -> bool:
    """Whether a loss is read as a number or printed, and goes nowhere else in sight."""
    read = [one.tensor for one in training.events(ToHost)]
    if loss.output not in reached(read):
        return False
    ends = [one.loss for one in training.events(Backward)]
    ends += [one.value for one in training.events(Returned)]
    ends += [given for one in training.events(Escape) for given in (*one.values, *one.tensors)]
    return loss.output not in reached(ends, _without_numbers)


def _without_numbers(value: Value) -> Iterable[Value]:
    return () if isinstance(value, Op) and value.name in _NUMBERS else value.parts()
