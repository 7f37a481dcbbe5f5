"""Sums that keep nothing alive that another sum, which the program trains on, does not keep as long."""

from __future__ import annotations

from collections.abc import Iterable

from trainlint.facts.ask.asking import question
from trainlint.facts.ask.attachment import cuts
from trainlint.facts.ask.flow import made_of
from trainlint.facts.model.events.losses import Accumulated
from trainlint.facts.model.values import Carried, Op, Value


def is_held_anyway(event: Accumulated, trained: Iterable[Accumulated]) -> bool:
    """Whether all outputs of models in a sum go into another one too, which begins and grows beside it and is trained on; and
    it begins anew each time that the loop does. Beside their graph, a sum's own is nothing."""
    total = _total(event)
    if total is None:
        return False
    outputs = _outputs(event.value)
    return bool(outputs) and any(
        _begins_with(other, total) and outputs <= _outputs(other.value) for other in trained
    )


def _begins_with(other: Accumulated, total: Carried) -> bool:
    """Whether another sum begins right before the same loop."""
    found = _total(other)
    return found is not None and found.loop == total.loop


def _total(event: Accumulated) -> Carried | None:
    """What a sum was before the iteration, of the outermost of the loops that it runs through without beginning anew."""
    total = next((one for one in event.result.parts() if isinstance(one, Carried)), None)
    while total is not None and isinstance(total.start, Carried):
        total = total.start
    return total


@question(start=frozenset(), unknown=frozenset())
def _outputs(value: Value) -> frozenset[int]:
    """The outputs of models, with their graphs, that go into a value."""
    return frozenset(one.uid for one in made_of(value, cuts) if isinstance(one, Op) and one.name == "output")
