"""Does an optimizer of the program's own go on as before when its state is saved and loaded?"""

from __future__ import annotations

import copy
from collections.abc import Iterator

import torch

from trainlint.facts.seen.resumes import Reloaded
from trainlint.trace.measure.own_optimizers import beside_state, copied, differ
from trainlint.trace.measure.probes.taken import SAME, far, seed
from trainlint.trace.watch.objects import dotted
from trainlint.trace.watch.optimizers import Optimizer, parameters_of
from trainlint.trace.watch.recorder import Recorder


def resumed(recorder: Recorder) -> Iterator[Reloaded]:
    """Of each such optimizer that has stepped and keeps something beside its state: whether its next step needs that."""
    for known, optimizer in recorder.steps.working():
        if known.began and known.steps:
            found = _tried(known, optimizer)
            if found is not None:
                yield found


def _tried(known: Optimizer, optimizer: torch.optim.Optimizer) -> Reloaded | None:
    runs, again, loaded = copied(optimizer), copied(optimizer), copied(optimizer)
    before = beside_state(runs)
    started = [one.detach().clone() for one in parameters_of(runs)]
    _step(runs)
    lost = differ(beside_state(runs), before) & differ(before, known.began)
    if not lost or known.object.at is None:
        return None
    for name in lost:
        setattr(loaded, name, copy.deepcopy(known.began[name]))
    loaded.load_state_dict(copy.deepcopy(again.state_dict()))
    _step(again)
    _step(loaded)
    ends = [list(parameters_of(one)) for one in (runs, again, loaded)]
    moved, change = far(ends[0], started), far(ends[0], ends[2])
    if not moved or far(ends[0], ends[1]) > SAME * moved or not change > SAME * moved:
        return None
    name = dotted(type(optimizer)).rpartition(".")[2]
    return Reloaded(known.object.at, name, change, moved, keeps=", ".join(sorted(lost)))


def _step(optimizer: torch.optim.Optimizer) -> None:
    seed()
    optimizer.step()
