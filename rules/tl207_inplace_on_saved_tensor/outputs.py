"""What a model gives to callers that are not in sight: they run `backward()` on a loss of it, if it is ever trained."""

from __future__ import annotations

from trainlint.facts.api.classes import MODULE
from trainlint.facts.ask.attachment import attachment
from trainlint.facts.ask.flow import is_made_of
from trainlint.facts.model.events.parameters import Overwritten
from trainlint.facts.model.events.steps import Backward
from trainlint.facts.model.training import Training


def goes_into_output(training: Training, change: Overwritten) -> bool:
    """Whether a `forward` that nothing in sight calls changes what an operation has saved of what its layers give, and hands on
    what was made of it, each time."""
    if training.name.rpartition(".")[2] != "forward" or training.events(Backward) or not change.tensor.inputs:
        return False
    if change.guards:
        return False  # it may be done in evaluation only
    given = [one for one in training.handed_out() if one.receiver is not None and one.receiver.is_a(MODULE)]
    return (
        attachment(change.tensor.inputs[0]).attached
        and bool(given)
        and all(is_made_of(one.value, change.tensor, with_graph=True) for one in given)
    )
