"""What a model gives to callers that are not in sight: they run `backward()` on a loss of it, if it is ever trained."""

from __future__ import annotations

from trainlint.facts.api.classes import MODULE
from trainlint.facts.ask.attachment import attachment
from trainlint.facts.ask.flow import is_made_of
from trainlint.facts.model.events.parameters import Overwritten
from trainlint.facts.model.training import Training


def goes_into_output(training: Training, change: Overwritten) -> bool:
    """Whether a `forward` without a caller in sight changes a tensor in place that backward needs, and returns what was made
    of it."""
    if training.name.rpartition(".")[2] != "forward" or not change.tensor.inputs or change.guards:
        return False  # under a condition, it may be done in evaluation only
    return attachment(change.tensor.inputs[0]).attached and any(
        one.receiver is not None
        and one.receiver.is_a(MODULE)
        and is_made_of(one.value, change.tensor, with_graph=True)
        for one in training.handed_out()
    )
