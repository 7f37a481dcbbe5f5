"""What code that is not known may do with what it is handed."""

from __future__ import annotations

from collections.abc import Iterator

from trainlint.facts.ask.attachment import attachment
from trainlint.facts.ask.contents import handed_over
from trainlint.facts.model.events.event import Escape
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, Op, Value


def may_run_backward(escape: Escape) -> bool:
    """Whether code that is not known is handed an object, or something that gradients flow back from."""
    for value in (*escape.values, *escape.tensors):
        if isinstance(value, Object):
            return True
        if isinstance(value, Op):
            way = attachment(value)
            if way.attached or way.uncertain:
                return True
    return False


def given_away(training: Training) -> Iterator[Value]:
    """All that code which is not known can get at in a program."""
    return (
        one for escape in training.events(Escape) for value in escape.values for one in handed_over(value)
    )
