"""Weights that one rank alone loads, when all have begun with the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.unseen_models import made_as
from trainlint.facts.model.events.calls import Called
from trainlint.facts.model.events.event import Escape
from trainlint.facts.model.events.modules import StateLoaded, Wrapped
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Guards, Value
from trainlint.finding import Because, Finding

_SENDS = ("torch.distributed.broadcast", "torch.distributed.broadcast_object_list")


def loaded_by_one(training: Training) -> Iterator[Finding]:
    """A model is wrapped, which gives all ranks the same weights, and then one of them loads others."""
    for wrapped in training.events(Wrapped):
        if not wrapped.name.endswith("DistributedDataParallel"):
            continue
        for loaded in training.events(StateLoaded):
            is_later = made_as(loaded.target) is made_as(wrapped.module) and training.is_after(
                loaded, wrapped
            )
            if is_later and _is_of_first_rank(loaded.guards) and not _is_sent(training, loaded):
                yield Finding(
                    loaded.at,
                    "Only rank 0 loads these weights, and `DistributedDataParallel` sends them to the other ranks when it "
                    "is created, not later: the ranks go on with different models. Load them on every rank, or before "
                    "the model is wrapped.",
                    (Because(wrapped.at, "the model is wrapped here"),),
                )


def _is_of_first_rank(guards: Guards) -> bool:
    return any(outcome and asks_for_rank(condition) for condition, outcome in guards)


def asks_for_rank(condition: Any) -> bool:
    match condition:
        case ("and", *several):
            return any(map(asks_for_rank, several))
        case ("==", asked, ("constant", "0")) | ("==", ("constant", "0"), asked):
            return asked == ("once", "torch.distributed.get_rank") or _is_rank(asked)
    return False


def _is_rank(asked: Any) -> bool:
    match asked:
        case ("getattr", _, str(name)):
            return name.strip("'") in ("rank", "global_rank", "local_rank")
    return False


def _is_sent(training: Training, loaded: StateLoaded) -> bool:
    """Whether something that may hold the weights is sent to the other ranks afterwards, by whatever is called."""
    sent: list[tuple[Value, ...]] = [
        one.args for one in training.events(Called) if one.name in _SENDS and training.is_after(one, loaded)
    ]
    sent += [one.values for one in training.events(Escape) if training.is_after(one, loaded)]
    model = made_as(loaded.target)
    return any(one is loaded.target or one is model for values in sent for one in reached(values))
