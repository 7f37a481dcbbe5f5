"""Models that are trained past the wrapper that averages their gradients over the ranks."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.flow import is_made_of
from trainlint.facts.ask.interference import may_set_gradients
from trainlint.facts.ask.unseen_models import made_as
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.events.modules import Wrapped
from trainlint.facts.model.events.steps import Backward, OptimizerStep
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Constant, Op, Unknown, Value
from trainlint.finding import Because, Finding, Place

_AVERAGES = "DistributedDataParallel"
_NAMED = re.compile(r"ddp|distributed", re.IGNORECASE)
_SAID = (
    "The model is called as `.module`, past `DistributedDataParallel`, so nobody averages its gradients over the ranks, "
    "and their copies of the model drift apart. Call the wrapper itself."
)


def bypassed(training: Training) -> Iterator[Finding]:
    """A loss is computed by what stands in the wrapper, and not by the wrapper."""
    losses = [one.loss for one in training.events(Backward) if not one.by_framework]
    if not losses or not training.events(OptimizerStep) or may_set_gradients(training, None):
        return
    wrapped = [one for one in training.events(Wrapped) if one.name.endswith(_AVERAGES)]
    for forward in training.events(Forward):
        around = next((one for one in wrapped if made_as(one.module) is made_as(forward.module)), None)
        if (
            around is None
            or not forward.text.endswith(".module(…)")
            or not training.is_after(forward, around)
        ):
            continue
        if any(is_made_of(loss, forward.output, with_graph=True) for loss in losses):
            yield Finding(forward.at, _SAID, (Because(around.at, "the model is wrapped here"),))
    for call in _calls_of_unknown(losses):
        doubt = "only its name says that it is such a wrapper"
        yield Finding(call, _SAID, confidence="likely", doubt=doubt)


def _calls_of_unknown(losses: list[Value]) -> Iterator[Place]:
    """Where `.module` of something is called that is named after such a wrapper."""
    for one in reached(losses):
        match one:
            case Op(name="call", inputs=(holder, *_), records=True, at=Place() as at):
                if one.text.endswith(".module(…)") and _NAMED.search(_name(holder)):
                    yield at


def _name(value: Value) -> str:
    match value:
        case Unknown():
            return value.text
        case Op(name="getattr", options={"name": Constant(value=str() as name)}):
            return name
    return ""
