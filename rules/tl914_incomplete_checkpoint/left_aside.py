"""Functions that resume, are given an optimizer whose state is saved beside them, and do nothing with it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.contents import contents
from trainlint.facts.ask.flow import is_made_of
from trainlint.facts.ask.sequences import index_of
from trainlint.facts.model.events.event import Escape, Returned
from trainlint.facts.model.events.modules import LeftAside, StateLoaded
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Op, Value, constant
from trainlint.finding import Place

_STEPPING = re.compile(r"optim|sched|scaler|(^|_)opt(_|$)", re.IGNORECASE)
_BEGINS = re.compile(
    r"(start|begin|first|init(ial)?|resume)_?(from_?)?(epoch|iter|step)|^global_step$", re.IGNORECASE
)
_COUNTS = re.compile(
    r"^_?((cur(rent)?|last|global|total)_)?(epochs?|steps?|iters?|iterations?)(_(run|done|completed|num|idx))?$|^_?start$",
    re.IGNORECASE,
)
"""What the number that a loop goes on with is called, where the method says that it resumes."""
_RESUMES = re.compile(
    r"resume|restore|continue|load(_\w+)?_(checkpoint|ckpt|snapshot|state)|load(_\w+)?_training|^_?load$",
    re.IGNORECASE,
)
_ONLY_WEIGHTS = re.compile(r"best|test|eval|pretrain|infer|weights|model|net|final", re.IGNORECASE)
_MOST = 2000


class Forgotten(NamedTuple):
    """What is not restored, where something else is, and where the function begins."""

    name: str
    at: Place
    by: Place


def forgotten(training: Training) -> Iterator[Forgotten]:
    for aside in training.events(LeftAside):
        names = [one for one in aside.names if _STEPPING.search(one.removeprefix("self."))]
        restored = _restored(training) if names else []
        if not restored or not _resumes(training, restored, aside.of_object):
            continue
        if not any(
            _is_kept(training, one)
            for one in {checkpoint.uid: checkpoint for _, checkpoint in restored}.values()
        ):
            yield from (Forgotten(one, restored[0][0].at, aside.at) for one in names)


def _restored(training: Training) -> list[tuple[StateLoaded, Op]]:
    """What is restored from a checkpoint, and the checkpoint."""
    found = [(one, checkpoint_in(one.state)) for one in training.events(StateLoaded)]
    return [(one, checkpoint) for one, checkpoint in found if checkpoint is not None]


def _resumes(training: Training, restored: list[tuple[StateLoaded, Op]], of_object: bool) -> bool:
    """Whether something else that steps is restored, or the object keeps from where it goes on, or a function that is given
    what steps restores more than a model or gives back something of the checkpoint, as the epoch: what only wants the weights
    does neither."""
    if of_object:
        return any(map(_is_of_stepping, (one for one, _ in restored))) or _goes_on(training, restored)
    return len({one.at for one, _ in restored}) > 1 or any(
        is_made_of(returned.value, checkpoint)
        for returned in training.events(Returned)
        for _, checkpoint in restored
    )


def _goes_on(training: Training, restored: list[tuple[StateLoaded, Op]]) -> bool:
    """Whether an object keeps a number of the checkpoint as the one that it begins with: `self.start_epoch = saved["epoch"]`; or,
    in a method that says so, as the one that it counts."""
    method = training.name.rpartition(".")[2]
    says_so = _RESUMES.search(method) is not None and not _ONLY_WEIGHTS.search(method)
    return any(
        (_BEGINS.search(name) is not None or (says_so and _COUNTS.search(name) is not None))
        and is_made_of(value, checkpoint)
        for returned in training.events(Returned)
        if returned.receiver is not None
        for name, value in returned.receiver.attributes.items()
        for _, checkpoint in restored
    )


def _is_of_stepping(loaded: StateLoaded) -> bool:
    """Whether the state of a scheduler, a scaler or an optimizer is restored, by its key in the checkpoint."""
    key = index_of(loaded.state) if isinstance(loaded.state, Op) and loaded.state.name == "getitem" else None
    name = constant(key)
    return isinstance(name, str) and _STEPPING.search(name) is not None


def _is_kept(training: Training, checkpoint: Op) -> bool:
    """Whether a whole checkpoint is handed on, or kept by the object: then the rest may be restored from it elsewhere."""
    given: list[Value] = [one for escape in training.events(Escape) for one in escape.values]
    for returned in training.events(Returned):
        given.append(returned.value)
        given += returned.receiver.attributes.values() if returned.receiver is not None else ()
    return any(one is checkpoint for value in given for one in contents(value))


def checkpoint_in(value: Value) -> Op | None:
    """A checkpoint that something is made of."""
    return next(
        (one for one in reached([value], most=_MOST) if isinstance(one, Op) and one.name == "load"), None
    )
