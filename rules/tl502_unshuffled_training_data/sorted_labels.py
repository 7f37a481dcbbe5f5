"""Labels that the program itself lays out class by class: random numbers beside them do not mix the classes."""

from __future__ import annotations

from trainlint.facts.ask.evidence import numbers_of
from trainlint.facts.ask.numbers import is_whole
from trainlint.facts.model.elements import plain
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Items, Object, Op, Value

_SAME_ORDER = frozenset(
    "long float int to type astype tensor as_tensor from_numpy cuda squeeze unsqueeze view reshape flatten".split()
)


def are_by_class(training: Training, loader: Object) -> bool:
    """Whether the targets that a loader hands out certainly are all those of one class, then those of the next."""
    return any(
        _is_by_class(label)
        for loss in training.events(LossCall)
        if loss.target is not None and (label := _label(loss.target, loader)) is not None
    )


def holds_classes_in_order(dataset: Value) -> bool:
    """Whether a run has seen labels in a dataset that are sorted by class."""
    held = dataset.attributes.values() if isinstance(dataset, Object) else dataset.parts()
    return any("classes in order" in numbers_of(one) for one in held)


def _label(target: Value, loader: Object) -> Value | None:
    """What a loader makes the targets of a loss of."""
    part = _kept(target)
    batch: Value = part
    while isinstance(batch, Op) and batch.name in ("getitem", "getattr"):
        batch = batch.inputs[0]
    is_of_it = isinstance(batch, Op) and batch.name == "iterate" and batch.inputs[0] is loader
    return _stored(part.drawn) if is_of_it and isinstance(part, Op) and part.drawn is not None else None


def _stored(drawn: Value) -> Value:
    """All labels, of which the dataset returns one."""
    one = _kept(drawn)
    index = one.options.get("index") if isinstance(one, Op) and one.name == "getitem" else None
    return _kept(one.inputs[0]) if isinstance(one, Op) and index is not None and is_whole(index) else one


def _kept(value: Value) -> Value:
    while isinstance(value, Op) and value.name in _SAME_ORDER and value.inputs:
        value = value.inputs[0]
    return value


def _is_by_class(labels: Value) -> bool:
    """`arange(k).repeat_interleave(n)`, `numpy.repeat(numpy.arange(k), n)`, `cat([zeros(n), ones(n)])`."""
    if not isinstance(labels, Op) or not labels.inputs:
        return False
    first = labels.inputs[0]
    is_each = "repeat_interleave" in (labels.name, labels.text.removesuffix("(…)").rpartition(".")[2])
    if is_each or labels.name == "numpy.repeat":
        return isinstance(first, Op) and plain(first) == "arange"
    pieces = (
        first.items if plain(labels) in ("cat", "concat", "concatenate") and isinstance(first, Items) else []
    )
    return {plain(one) for one in pieces if isinstance(one, Op)} >= {"zeros", "ones"}
