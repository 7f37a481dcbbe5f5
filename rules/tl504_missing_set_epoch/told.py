"""Whose `set_epoch` is called: that of the sampler that shuffles the training data, or of something else."""

from __future__ import annotations

from collections.abc import Iterator

from trainlint.facts.api.classes import LOADER, SAMPLER
from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.contents import handed_over
from trainlint.facts.model.events.calls import Called
from trainlint.facts.model.events.modules import Built
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, Op, Unknown, Value, alternatives


def told_of_epochs(training: Training, loader: Object, sampler: Object) -> list[Called] | None:
    """The calls of `set_epoch`, all on something else than a sampler and its loader; None where one may be on these."""
    calls = [one for one in training.events(Called) if one.name == "set_epoch"]
    asked = [value for one in calls for value in (alternatives(one.args[0]) if one.args else [Unknown()])]
    others = list(_datasets(training)) if asked else []
    return None if any(_may_be(one, (loader, sampler), others) for one in asked) else calls


def _datasets(training: Training) -> Iterator[Value]:
    for one in training.events(Built):
        if one.object.is_a(LOADER):
            yield from alternatives(one.object.argument(0, "dataset"))


def _may_be(value: Value, wanted: tuple[Object, Object], datasets: list[Value]) -> bool:
    """Whether a call on a value may reach a sampler, or its loader, which tells the sampler."""
    if isinstance(value, Op) and value.name == "getattr":
        holders = [one for one in handed_over(value) if isinstance(one, Object)]
        return not holders or any(_holds(one, wanted) for one in holders)
    if isinstance(value, Object):
        return _holds(value, wanted)
    return not any(one is value for one in datasets)


def _holds(value: Object, wanted: tuple[Object, Object]) -> bool:
    if value.is_a(LOADER, SAMPLER):
        return any(value is one or (value.at is not None and value.at == one.at) for one in wanted)
    return any(one in wanted for one in reached([value], _held, 500))


def _held(value: Value) -> tuple[Value, ...]:
    if isinstance(value, Object):
        return (*value.args, *value.options.values(), *value.attributes.values())
    return tuple(value.parts())
