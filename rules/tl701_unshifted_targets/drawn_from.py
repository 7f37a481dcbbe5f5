"""The call of a model out of sight, that other code draws one token after another from."""

from __future__ import annotations

from trainlint.facts.api.classes import SOME_MODULE
from trainlint.facts.ask.sequences import batches, lead, prediction
from trainlint.facts.model.events.drawing import DrawsNext
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Constant, Op, Value, constant

_CALL = "(…)"


def unshifted_call(training: Training, loss: LossCall) -> Op | None:
    """The call that gave the logits of a loss, where the targets are what it was given, each at its place."""
    called = {name for one in training.events(DrawsNext) for name in one.called}
    predicted = prediction(loss) if called and loss.target is not None else None
    if predicted is None or loss.target is None:
        return None
    call = _logits_of(predicted.of)
    if call is None or not call.text.endswith(_CALL) or call.text.removesuffix(_CALL) not in called:
        return None
    known = batches(training)
    leads = [lead(one, loss.target, known) for one in call.inputs]
    is_plain = any(one is not None and one.steps == predicted.start for one in leads)
    return call if is_plain else None


def _logits_of(value: Value) -> Op | None:
    """The call whose result these are, or of which they are the logits: `model(ids).logits`."""
    match value:
        case Op(name="getattr", inputs=(inner, *_), options={"name": Constant(value="logits")}):
            value = inner
        case Op(name="getitem", inputs=(inner, *_)) if constant(value.option(1, "index")) in (0, "logits"):
            value = inner
    while isinstance(value, Op) and value.name == "output" and value.inputs:
        value = value.inputs[0]
    return value if isinstance(value, Op) and value.name in ("call", SOME_MODULE) else None
