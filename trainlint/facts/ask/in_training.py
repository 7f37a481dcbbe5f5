"""What a model gives in training, where it gives something else in evaluation: logits to its loss, and probabilities to its users."""

from __future__ import annotations

from trainlint.facts.api.meanings import KEEPS
from trainlint.facts.ask.flow import is_made_of
from trainlint.facts.ask.guards import are_of_evaluation
from trainlint.facts.ask.holding import is_part_of
from trainlint.facts.model.effort import spend
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.events.modules import ModeChange
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Choice, Object, Op, Value


def trained_input(training: Training, loss: LossCall) -> Value | None:
    """The input of a loss in training mode, if its model chooses by its mode, and certainly is in training mode there."""
    value = loss.input
    while isinstance(value, Op) and value.name in KEEPS and value.inputs and not value.written:
        spend()
        value = value.inputs[0]
    options = value.options if isinstance(value, Choice) else ()
    left = [one for guards, one in options if not are_of_evaluation(guards)]
    return left[0] if len(left) == 1 and _is_in_training_mode(training, loss) else None


def _is_in_training_mode(training: Training, loss: LossCall) -> bool:
    """Whether a model whose output goes into a loss is switched to training mode each time before, and nothing to evaluation mode
    since."""
    models = [one.module for one in training.events(Forward) if is_made_of(loss.output, one.output)]
    found: list[bool] = []
    for run in training.runs(ModeChange, LossCall):
        is_on = False
        for event in run:
            if isinstance(event, ModeChange):
                is_on = event.training is True and (
                    is_on or any(_is_part(one, event.module) for one in models)
                )
            elif event is loss:
                found.append(is_on)
    return bool(found) and all(found)


def _is_part(model: Value, switched: Value) -> bool:
    """Whether a model is switched with another: it is that, or a part of it."""
    return model is switched or (
        isinstance(model, Object) and isinstance(switched, Object) and is_part_of(model, switched)
    )
