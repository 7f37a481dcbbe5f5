"""Models that weights are loaded into, and that nothing trains then."""

from __future__ import annotations

import re

from trainlint.facts.ask.holding import is_part_of
from trainlint.facts.ask.stepped import is_certainly_not_stepped
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.events.modules import StateLoaded
from trainlint.facts.model.events.steps import Backward
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, Op, alternatives
from trainlint.finding import Place


def is_loaded(training: Training, forward: Forward, module: Object) -> bool:
    """Whether weights are loaded into a module, or into a model that calls it as one of its parts, and nothing trains it: a
    program that only predicts, or one that trains another model on what this one gives."""
    whole = loaded_whole(training, module) or module
    loaded = [one for one in _loads(training) if one.target is whole]
    if not loaded:
        return False
    if not training.events(Backward):
        return True
    return not any(map(_is_of_module, loaded)) and is_certainly_not_stepped(training, forward.output)


def loaded_whole(training: Training, module: Object) -> Object | None:
    """The model that weights are loaded into and of which a module is a part that is called alone, as in
    `model.encode(x)`; None where the module itself is loaded."""
    targets = [one.target for one in _loads(training)]
    if any(one is module for one in targets):
        return None
    for one in targets:
        if isinstance(one, Object) and is_part_of(module, one):
            return one
    return None


def called_at(training: Training, forward: Forward, whole: Object) -> Place:
    """Where a program calls the method of a model that one of its parts runs in: the last call from another file, if any; the
    forward itself, where that is not in such a method."""
    calls = (
        forward.calls[1:] if training.entry == "function" else forward.calls
    )  # the first is where it is defined
    own = re.match(r"self\.(\w+)", forward.text)
    if own is None or own[1] not in whole.attributes or not calls:
        return forward.at
    others = [one for one in calls if one.path != forward.at.path]
    return (others or calls)[-1]


def _loads(training: Training) -> list[StateLoaded]:
    """All loads, those of a constructor that nobody in sight calls included."""
    return [*training.earlier.loads, *training.events(StateLoaded)]


def _is_of_module(loaded: StateLoaded) -> bool:
    """Whether the weights are those of another module: a target network, or an average, may be in training mode on purpose."""
    return any(isinstance(one, Op) and one.name == "state_dict" for one in alternatives(loaded.state))
