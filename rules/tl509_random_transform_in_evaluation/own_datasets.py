"""Datasets of the program's own: which transform they are given, and whether their `__getitem__` applies it."""

from __future__ import annotations

from trainlint.facts.ask.asking import question, reached
from trainlint.facts.model.events.batches import Batched
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Choice, Constant, Guards, Object, Op, Value

from .steps import is_transform, random_in

_OFF = ("val", "valid", "validation", "test", "eval", "dev")


def own_transform(training: Training, loader: Object, dataset: Object) -> Value | None:
    """The one transform that a dataset is given, where all items of a loader over it go through that. One that is told
    that it is not for training may leave it out, so there the items have to show it."""
    given = (*dataset.args, *dataset.options.values())
    transforms = [one for one in given if is_transform(one)]
    if not transforms:
        return _of_its_own(training, loader, dataset)
    if len(transforms) != 1:
        return None
    is_told = any(isinstance(one, Constant) and (one.value is False or one.value in _OFF) for one in given)
    batches = [one.batch for one in training.events(Batched) if one.loader is loader] if is_told else []
    if is_told and not any(_goes_through(one, transforms[0]) for one in batches):
        return None
    return transforms[0]


def _of_its_own(training: Training, loader: Object, dataset: Object) -> Value | None:
    """A random transform that a dataset makes itself, whatever it is told, and keeps or applies at once, where all items of a
    loader go through it once: two views of one item are there to be compared."""
    batches = [one.batch for one in training.events(Batched) if one.loader is loader]
    called = [
        one.inputs[0] for one in reached(batches) if isinstance(one, Op) and one.name == "call" and one.inputs
    ]
    made = [*dataset.attributes.values(), *(one for one in called if isinstance(one, Op))]
    kept = [one for one in made if is_transform(one) and random_in(one) is not None]
    found = next((one for one in kept if any(_goes_through(batch, one) for batch in batches)), None)
    if found is None:
        return None
    views = [one for one in reached(batches) if isinstance(one, Op) and _is_call(one, found)]
    return found if len(views) == 1 else None


def _is_call(value: Op, transform: Value) -> bool:
    return value.name == "call" and value.inputs[:1] == (transform,)


@question(start=False, unknown=False)
def _goes_through(value: Value, transform: Value) -> bool:
    """Whether a transform is called for a value, on all ways on which there is one."""
    if isinstance(value, Op) and _is_call(value, transform):
        return True
    if isinstance(value, Choice):
        possible = [one for guards, one in value.options if not _is_missing(transform, guards)]
        return all(_goes_through(one, transform) for one in possible)
    return any(_goes_through(one, transform) for one in value.parts())


def _is_missing(transform: Value, guards: Guards) -> bool:
    """Whether conditions say that there is no transform: `if self.transform`, `is not None`."""
    itself = ("result", transform.uid)
    return any(
        (condition == itself and not holds) or (condition == ("is", itself, ("constant", "None")) and holds)
        for condition, holds in guards
    )
