"""Losses of the program's own that take the log-softmax of the targets, and weigh it with what the model gives."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from trainlint.facts.api.classes import MODULE
from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.attachment import attachment
from trainlint.facts.model.elements import plain
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.events.steps import Backward
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Op, Unknown, Value

_MOST = 400


def swapped(training: Training, is_output: Callable[[Value], bool]) -> Iterator[LossCall]:
    """The losses whose log-softmax is of no model, times an output of one as it is."""
    own = {one.output.uid: one for one in training.events(LossCall) if one.function == "log_softmax"}
    if not own:
        return
    found: dict[int, LossCall] = {}
    for one in reached((backward.loss for backward in training.events(Backward)), most=_MOST):
        if not isinstance(one, Op) or plain(one) != "*" or len(one.inputs) != 2:
            continue
        factors = [_unsigned(factor) for factor in one.inputs]
        for log, weight in (factors, reversed(factors)):
            loss = own.get(log.uid)
            if (
                loss is not None
                and loss.input is not None
                and _is_learned(weight, is_output)
                and _is_of_data(loss.input)
            ):
                found[log.uid] = loss
    yield from found.values()


def _is_learned(weight: Value, is_output: Callable[[Value], bool]) -> bool:
    return isinstance(weight, Op) and weight.records is True and is_output(weight)


def _unsigned(value: Value) -> Value:
    while isinstance(value, Op) and value.name == "-" and len(value.inputs) == 1:
        value = value.inputs[0]
    return value


def _is_of_data(value: Value) -> bool:
    """Whether what a loop goes through has made a tensor, and no model, parameter or code that is not seen has."""
    made = [one for one in reached([value], most=_MOST) if isinstance(one, Op)]
    is_drawn = any(one.name == "iterate" for one in made)
    return is_drawn and not attachment(value).attached and not any(map(_may_be_of_model, made))


def _may_be_of_model(op: Op) -> bool:
    is_called = op.name == "call" and any(isinstance(one, Unknown) for one in op.inputs[:1])
    return is_called or (op.owner is not None and op.owner.is_a(MODULE))
