"""Layers by whose scores a model only chooses: no gradient comes back to them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trainlint.facts.api.classes import MODULE
from trainlint.facts.api.gradients import NO_GRADIENT, STEPS, WITH_INDICES
from trainlint.facts.api.layers import WITH_PARAMETERS
from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.attachment import cuts, is_index
from trainlint.facts.ask.behind_losses import operations_behind
from trainlint.facts.ask.freezing import may_be_frozen
from trainlint.facts.model.events.event import Escape, Returned
from trainlint.facts.model.events.steps import Backward
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, Op, Value

_STEPS = STEPS | {"multinomial", "bernoulli"}
_MOST = 4_000


def only_choosing(training: Training) -> Iterator[tuple[Op, Op]]:
    """The operations by which a model chooses by the scores of a layer, where nothing else of that layer is used and other
    layers of the model learn; and the call of that layer."""
    if operations_behind(training).isdisjoint(_STEPS | WITH_INDICES):
        return
    ends, owner = _ends(training)
    found = list(reached(ends, _any, _MOST))
    all_that_counts = [one for one in found if isinstance(one, Op)]
    choices = sorted((one for one in all_that_counts if _chooses(one)), key=lambda one: one.uid)
    calls = [one for one in all_that_counts if one.records is True and _is_layer(one.owner)]
    if not choices or not calls or len(found) == _MOST:
        return
    handed = [value for one in training.events(Escape) for value in (*one.values, *one.tensors)]
    learned = [one for one in reached([*ends, *handed], _recorded, _MOST) if isinstance(one, Op)]
    learning = {one.owner.uid for one in learned if one.owner is not None}
    detached = [one for one in learned if cuts(one)]
    for call in calls:
        layer = call.owner
        if layer is None or layer.uid in learning or may_be_frozen(training, layer):
            continue
        if any(_is_made_of(one, call) for one in detached):
            continue  # a gradient would get there beside the choice
        by = next((one for one in choices if _is_made_of(one, call)), None)
        if by is not None and by.at is not None and _learns_beside(training, owner, layer, learning):
            yield by, call


def _ends(training: Training) -> tuple[list[Value], Object | None]:
    """What is trained on: losses; where there are none, what the forward of a module returns and keeps."""
    losses = [one.loss for one in training.events(Backward)]
    if losses or not training.name.endswith(".forward"):
        return losses, None
    for one in training.events(Returned):
        if one.receiver is not None and one.receiver.is_a(MODULE):
            kept = (value for value in one.receiver.attributes.values() if not _is_module(value))
            return [one.value, *kept], one.receiver
    return [], None


def _is_module(value: Value) -> bool:
    return isinstance(value, Object) and value.is_a(MODULE)


def _is_layer(module: Object | None) -> bool:
    return module is not None and module.type.removeprefix("torch.nn.") in WITH_PARAMETERS


def _any(value: Value) -> Iterable[Value]:
    if not isinstance(value, Op):
        return value.parts()
    return (*value.parts(), *value.written) if value.records is not False else ()


def _recorded(value: Value) -> Iterable[Value]:
    if isinstance(value, Op) and (cuts(value) or value.name in NO_GRADIENT or is_index(value)):
        return value.written
    return _any(value)


def _chooses(op: Op) -> bool:
    return op.name in _STEPS or is_index(op)


def _is_made_of(op: Op, output: Value) -> bool:
    return any(one is output for one in reached([op], most=500))


def _learns_beside(training: Training, owner: Object | None, layer: Value, learning: set[int]) -> bool:
    """Whether another layer of the module that holds this one learns."""
    holders = [owner] if owner is not None else [one for one in training.objects if one.is_a(MODULE)]
    for holder in holders:
        if any(value is layer for value in holder.attributes.values()):
            held = reached(holder.attributes.values(), _inside, _MOST)
            return any(one.uid in learning for one in held)
    return False


def _inside(value: Value) -> Iterable[Value]:
    if isinstance(value, Object):
        return (*value.args, *value.attributes.values())
    return value.parts()
