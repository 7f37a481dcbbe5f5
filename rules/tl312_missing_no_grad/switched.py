"""The last switch of mode before a forward: of the module itself, or of what holds it."""

from __future__ import annotations

from trainlint.facts.ask.holding import is_part_of
from trainlint.facts.model.events.event import Event
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.events.modules import ModeChange
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, Value, alternatives


def modes_at(training: Training, runs: list[list[Event]], forward: Forward) -> list[ModeChange | None]:
    """The last switch before a forward in each order of events that has it."""
    around = _holders(training, forward)
    return [_last(training, run, forward, around) for run in runs if forward in run]


def _holders(training: Training, forward: Forward) -> frozenset[int]:
    """The numbers of what is switched and holds a module, such as a trainer that is a module too. Where a forward of that
    calls the module, it is the one that is judged."""
    module = forward.module
    if not isinstance(module, Object) or module.loops or _is_called_by_another(training, forward):
        return frozenset()
    switched = (one.module for one in training.events(ModeChange))
    return frozenset(one.uid for one in switched if one is not module and _holds(one, module))


def _holds(whole: Value, module: Object) -> bool:
    return all(isinstance(one, Object) and is_part_of(module, one) for one in alternatives(whole))


def _is_called_by_another(training: Training, forward: Forward) -> bool:
    return any(one.at in forward.calls for one in training.events(Forward) if one is not forward)


def _last(
    training: Training, run: list[Event], forward: Forward, around: frozenset[int]
) -> ModeChange | None:
    own = training.mode_at(run, forward)
    if not around:
        return own
    last = own
    for event in run:
        if event is forward:
            break
        if event is own or (isinstance(event, ModeChange) and event.module.uid in around):
            last = event
    return last
