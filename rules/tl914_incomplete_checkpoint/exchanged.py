"""Checkpoints that hold the state of a scheduler as the optimizer's, and the optimizer's as the scheduler's."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainlint.facts.api.classes import MODULE, OPTIMIZER, SCHEDULER
from trainlint.facts.ask.sequences import index_of
from trainlint.facts.model.events.calls import Called
from trainlint.facts.model.events.modules import StateLoaded
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, Op, Table, Unknown, Value, alternatives, constant

_OF_OPTIMIZER = re.compile(r"(?:\w+_)?optim(?:i[sz]er)?(?:_state)?(?:_?dict)?", re.IGNORECASE)
"""What the entry of an optimizer's state is called."""
_CALLED = ((OPTIMIZER, "optim"), (SCHEDULER, "sched"))


def exchanged(training: Training) -> Iterator[Op]:
    """The state of an optimizer that a checkpoint holds as its scheduler's, where what it holds as the optimizer's is of
    something else; not where they are read that way round."""
    if any(map(_is_taken_back, training.events(StateLoaded))):
        return
    for call in training.events(Called):
        given = call.args[0] if call.name == "torch.save" and call.args else None
        if not isinstance(given, Table):
            continue
        others = [one for key, one in given.entries.items() if _says(key, "optim")]
        if others and not any(isinstance(one, Unknown) or _kind(one) == OPTIMIZER for one in others):
            for key, one in given.entries.items():
                if _says(key, "sched") and isinstance(one, Op) and _kind(one) == OPTIMIZER:
                    yield one


def of_no_optimizer(training: Training) -> Iterator[tuple[Op, Object]]:
    """The state of a module or a loss that a checkpoint holds as the optimizer's, and that module."""
    for call in training.events(Called):
        given = call.args[0] if call.name == "torch.save" and call.args else None
        for key, one in given.entries.items() if isinstance(given, Table) else ():
            owner = one.owner if isinstance(one, Op) and one.text.endswith(".state_dict(…)") else None
            is_other = owner is not None and owner.is_a(MODULE) and not owner.is_a(OPTIMIZER)
            is_named = isinstance(key, str) and _OF_OPTIMIZER.fullmatch(key) is not None
            if is_named and is_other and isinstance(one, Op) and owner is not None:
                yield one, owner


def _says(key: object, word: str) -> bool:
    others = [one for _, one in _CALLED if one != word]
    return isinstance(key, str) and word in key.lower() and not any(one in key.lower() for one in others)


def _kind(state: Value) -> str | None:
    """What a state is of."""
    match state:
        case Op(owner=Object() as owner, text=text) if text.endswith(".state_dict(…)"):
            return _kind_of(owner)
    return None


def _kind_of(value: Value) -> str | None:
    found = {
        next((kind for kind, _ in _CALLED if one.is_a(kind)), None) if isinstance(one, Object) else None
        for one in alternatives(value)
    }
    return found.pop() if len(found) == 1 else None


def _is_taken_back(loaded: StateLoaded) -> bool:
    """Whether a state is loaded from an entry that is called after something else."""
    key = index_of(loaded.state) if isinstance(loaded.state, Op) and loaded.state.name == "getitem" else None
    kind = _kind_of(loaded.target)
    return kind is not None and any(one != kind and _says(constant(key), word) for one, word in _CALLED)
