"""Collators that nothing is trained with."""

from __future__ import annotations

from collections.abc import Iterable

from trainlint.facts.api.frameworks import TRAINER
from trainlint.facts.model.events.event import Escape
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Constant, Object, Op, Value, alternatives
from trainlint.finding import Place


def only_evaluates(training: Training, at: Place) -> bool:
    """Whether what is made there goes to trainers alone that are given no data to train on: these can only evaluate."""
    holders = [one for one in training.objects if _is_among(_given(one), at)]
    if not holders or any(map(_may_train, holders)):
        return False
    places = {one.at for one in holders}
    return not any(one.at not in places and _is_among(one.values, at) for one in training.events(Escape))


def _given(holder: Object) -> Iterable[Value]:
    return (*holder.args, *holder.options.values(), *holder.attributes.values())


def _is_among(values: Iterable[Value], at: Place) -> bool:
    return any(isinstance(one, Op) and one.at == at for value in values for one in alternatives(value))


def _may_train(holder: Object) -> bool:
    """Whether it is no trainer of a library, or one that has data to train on, or may get some later."""
    if not holder.is_a(TRAINER) or holder.definition is not None or holder.is_open:
        return True
    data = holder.argument(3, "train_dataset")
    is_without = data is None or all(
        isinstance(one, Constant) and one.value is None and not one.is_default for one in alternatives(data)
    )
    return not is_without or "train_dataset" in holder.attributes
