"""What losses are made of, looked at once for all rules: what is not there, no rule need look for."""

from __future__ import annotations

from collections.abc import Iterable

from trainlint.facts.ask.asking import question, reached
from trainlint.facts.model.events.event import Returned
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.events.steps import Backward
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Op, Value


@question(start=frozenset(), unknown=frozenset())
def operations_behind(training: Training) -> frozenset[str]:
    """The names of all operations that losses, and what functions return, are made of."""
    ends = [one.value for one in training.events(Returned)]
    ends += (one.loss for one in training.events(Backward))
    ends += (one.output for one in training.events(LossCall))
    return frozenset([one.name for one in reached(ends, _into) if isinstance(one, Op)])


def _into(value: Value) -> Iterable[Value]:
    return (*value.parts(), *value.written) if isinstance(value, Op) else value.parts()
