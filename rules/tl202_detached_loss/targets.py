"""What is rightly detached: the targets of losses."""

from __future__ import annotations

from trainlint.facts.api.meanings import KEEPS
from trainlint.facts.ask.attachment import attachment
from trainlint.facts.ask.flow import is_made_of
from trainlint.facts.model.effort import spend
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Constant, Op, Value

_SUMS = ("+", "add")
_PRODUCTS = ("*", "mul")


def without_targets(training: Training, cuts: list[Op]) -> list[Op]:
    """All but those that are the target of a loss whose prediction is cut as well, and those that are estimates of returns:
    if a loss made of these has no graph, its prediction has lost it."""
    targets: set[int] = {one.uid for one in cuts if _is_return(one)}
    for loss in training.events(LossCall) if len(cuts) > 1 else ():
        predicted, wanted = (
            {one.uid for one in cuts if value is not None and is_made_of(value, one)}
            for value in (loss.input, loss.target)
        )
        if predicted:
            targets |= wanted - predicted
    return [one for one in cuts if one.uid not in targets]


def _is_return(cut: Op) -> bool:
    """Whether `reward + discount * critic(next)` is detached: data, and a prediction that is weighted."""
    match _plain(cut.inputs[0]) if cut.inputs else None:
        case Op(name=name, inputs=(one, other)) if name in _SUMS:
            return (_is_data(one) and _is_weighted(other)) or (_is_data(other) and _is_weighted(one))
    return False


def _is_data(value: Value) -> bool:
    return not isinstance(_plain(value), Constant) and attachment(value).is_nothing


def _is_weighted(value: Value) -> bool:
    return isinstance(value, Op) and value.name in _PRODUCTS


def _plain(value: Value) -> Value:
    while isinstance(value, Op) and value.name in KEEPS and value.inputs:
        spend()
        value = value.inputs[0]
    return value
