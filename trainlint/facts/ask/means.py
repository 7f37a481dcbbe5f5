"""Losses that are means over a batch."""

from __future__ import annotations

from trainlint.facts.model.effort import spend
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Op, Value, constant

_KEEPS_SIZE = frozenset(("+", "add", "output", "scale", "getitem", "mean"))
"""Operations between a loss and its backward that do not divide it by a number of batches."""


def is_whole_mean(training: Training, loss: Value) -> bool:
    """Whether a loss certainly is the mean over a batch, or a sum of such means, divided by nothing else."""
    losses = {one.output.uid: one for one in training.events(LossCall)}
    pending: list[tuple[Value, bool]] = [(loss, False)]
    seen: set[tuple[int, bool]] = set()
    found = False
    while pending:
        one, averaged = pending.pop()
        if (one.uid, averaged) in seen:
            continue
        seen.add((one.uid, averaged))
        spend()
        call = losses.get(one.uid)
        if call is not None:
            if not averaged and constant(call.setting("reduction", "mean")) != "mean":
                return False
            found = True
        elif isinstance(one, Op) and one.name in _KEEPS_SIZE:
            pending.extend((part, averaged or one.name == "mean") for part in one.inputs[:2])
        else:
            return False
    return found


def is_mean_of_labels(loss: Value) -> bool:
    """Whether a loss is the one that a model gives if it is called with `labels`, as those of Hugging Face do: a mean over the
    labels of its batch, unless the model is told how many there are in several."""
    match loss:
        case Op(name="getattr", inputs=(Op(name="output") as output, *_), options=given):
            call: Value = output
        case _:
            return False
    while isinstance(call, Op) and call.name == "output" and call.inputs:
        call = call.inputs[0]
    is_told = isinstance(call, Op) and "num_items_in_batch" in call.options
    return (
        constant(given.get("name")) == "loss"
        and isinstance(call, Op)
        and "labels" in call.options
        and not is_told
    )
