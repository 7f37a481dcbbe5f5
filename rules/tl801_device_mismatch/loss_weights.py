"""Weights of a loss that stay on the CPU while the prediction is elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from trainlint.facts.api.classes import MODULE
from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.contents import handed_over
from trainlint.facts.ask.placement import device_of, homes_of
from trainlint.facts.model.events.event import Escape
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.events.modules import Moved
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, Op, Value, alternatives

_WEIGHTS = ("weight", "pos_weight")
_MOVES = frozenset(("cpu", "to"))


class Left(NamedTuple):
    """A loss whose weights are left on the CPU, and where its prediction comes from."""

    loss: LossCall
    argument: str
    weight: Value
    home: str


def left_behind(training: Training) -> Iterator[Left]:
    """Losses of which a weight certainly is on the CPU, and not where the model is that made the prediction."""
    for loss in training.events(LossCall):
        for argument in _WEIGHTS:
            weight = _given(training, loss, argument)
            if weight is not None and device_of(weight) == "cpu":
                homes = _homes(training, loss)
                if homes and "cpu" not in homes:
                    yield Left(loss, argument, weight, " or ".join(sorted(homes)))


def _given(training: Training, loss: LossCall, argument: str) -> Value | None:
    """The weight that a loss is given, if the loss object is not moved with it."""
    owner = loss.output.owner
    if owner is None:
        return loss.output.options.get(argument)
    moved = any(owner in alternatives(one.what) for one in training.events(Moved))
    held = any(
        owner in alternatives(value)
        for one in training.objects
        if one.is_a(MODULE)
        for value in one.attributes.values()
    )
    handed = any(owner in handed_over(value) for escape in training.events(Escape) for value in escape.values)
    if moved or held or handed or owner.is_open or not owner.type.startswith("torch.nn."):
        return None
    return owner.argument(0, "weight") if argument == "weight" else owner.options.get(argument)


def _homes(training: Training, loss: LossCall) -> frozenset[str]:
    """The devices of the models that made the prediction of a loss; empty where that is not certain."""
    if loss.input is None or _is_moved(loss.input):
        return frozenset()
    made = (one.owner for one in reached([loss.input]) if isinstance(one, Op))
    models = {one.uid: one for one in made if isinstance(one, Object) and one.is_a(MODULE)}
    homes = [homes_of(training, one, loss, accelerated=True, unseen=True) for one in models.values()]
    return frozenset[str]().union(*homes)


def _is_moved(prediction: Value) -> bool:
    """Whether what a model gave is moved again, before the loss gets it: `criterion(model(x).cpu(), y)`."""
    while isinstance(prediction, Op) and prediction.owner is None and prediction.inputs:
        if prediction.name in _MOVES:
            return True
        prediction = prediction.inputs[0]
    return False
