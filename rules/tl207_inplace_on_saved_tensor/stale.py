"""Forward passes whose weights a step has changed before their backward came."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from trainlint.facts.api.classes import OPTIMIZER
from trainlint.facts.api.gradients import NO_GRADIENT
from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.attachment import attachment, cuts
from trainlint.facts.ask.contents import contents
from trainlint.facts.ask.flow import all_that_makes
from trainlint.facts.ask.holding import held_in, is_part_of
from trainlint.facts.ask.stepped import modules_held
from trainlint.facts.model.events.event import Event
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.events.parameters import RequiresGrad
from trainlint.facts.model.events.steps import Backward, OptimizerStep
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Items, Object, Op, Value

_KEEP_WEIGHTS = frozenset(
    f"torch.nn.{name}"
    for name in "Linear Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d LSTM GRU RNN".split()
)
"""Layers that hand a gradient on by multiplying it with their weights."""

_MOST_VALUES = 2000


@dataclass(frozen=True)
class Stale:
    """A backward through weights that are not those of its forward any more, for an optimizer has stepped them."""

    forward: Forward
    step: OptimizerStep
    backward: Backward


def stale(training: Training) -> Iterator[Stale]:
    """Steps between a forward and its backward, on gradients that another backward has left in between."""
    steps = [one for one in training.events(OptimizerStep) if _is_known(one.optimizer)]
    backwards = training.events(Backward)
    if not steps or len(backwards) < 2 or training.events(RequiresGrad):
        return
    users = _Users(training, steps)
    said: set[int] = set()
    for backward in backwards:
        for forward in _forwards(training, backward):
            for step in _between(forward, backward, users):
                if id(step) not in said and set(step.guards) <= set(backward.guards):
                    said.add(id(step))
                    yield Stale(forward, step, backward)


def _is_known(optimizer: Value) -> bool:
    return isinstance(optimizer, Object) and optimizer.is_a(OPTIMIZER) and optimizer.definition is None


def _forwards(training: Training, backward: Backward) -> list[Forward]:
    """The recorded forwards through which the gradient of a loss certainly goes, each time."""
    inside = {one.uid for one in _graph(backward.loss)}
    return [
        one
        for one in training.events(Forward)
        if one.records is True
        and isinstance(one.output, Op)
        and one.output.uid in inside
        and set(one.guards) <= set(backward.guards)
    ]


def _kept(forward: Forward) -> list[Object]:
    """The layers of a module whose weights the backward of one of its forwards needs."""
    return [
        one.owner
        for one in _graph(forward.output)
        if one.owner is not None
        and one.name != "output"
        and one.owner.type in _KEEP_WEIGHTS
        and one.inputs
        and attachment(one.inputs[0]).attached
        and isinstance(forward.module, Object)
        and is_part_of(one.owner, forward.module)
    ]


def _graph(value: Value) -> list[Op]:
    """The operations that a gradient certainly goes back through: nothing that may be something else."""
    found: list[Op] = []

    def behind(one: Value) -> Iterable[Value]:
        if isinstance(one, Items) and one.exact:
            return one.items
        if not (isinstance(one, Op) and _is_followed(one)):
            return ()
        found.append(one)
        return one.inputs

    for _ in reached([value], behind, _MOST_VALUES):
        pass
    return found


def _is_followed(op: Op) -> bool:
    if op.records is not True or cuts(op) or op.name in NO_GRADIENT:
        return False
    return op.owner is not None or not (op.name in ("call", "getattr", "iterate") or "." in op.name)


class _Users:
    """Which steps use what forwards and backwards leave; each is worked out once."""

    def __init__(self, training: Training, steps: list[OptimizerStep]) -> None:
        self._steps = [(one, self._stepped(one)) for one in steps]
        self.runs = [_Run.of(events) for events in training.runs(Forward, OptimizerStep, Backward)]
        self._forwards = _outputs(training)
        self._of_layers: dict[Forward, list[OptimizerStep]] = {}
        self._trained: dict[Backward, list[OptimizerStep]] = {}

    def _stepped(self, step: OptimizerStep) -> frozenset[int]:
        """The numbers of the modules that a step changes, and of all that they hold."""
        modules = (one for one in modules_held(step.optimizer)[0] if isinstance(one, Object))
        return frozenset[int]().union(*map(held_in, modules))

    def of_layers(self, forward: Forward) -> list[OptimizerStep]:
        """The steps of layers whose weights the backward of a forward needs."""
        if forward not in self._of_layers:
            layers = {one.uid for one in _kept(forward)}
            self._of_layers[forward] = [one for one, changed in self._steps if not layers.isdisjoint(changed)]
        return self._of_layers[forward]

    def has_gradients(self, step: OptimizerStep, backward: Backward) -> bool:
        """Whether a backward leaves gradients for a step to use."""
        if backward not in self._trained:
            outputs = all_that_makes([backward.loss], with_graph=True) & self._forwards.keys()
            modules = frozenset[int]().union(*(self._forwards[one] for one in outputs))
            self._trained[backward] = [one for one, changed in self._steps if not modules.isdisjoint(changed)]
        return step in self._trained[backward]


def _outputs(training: Training) -> dict[int, set[int]]:
    """By the number of what a forward has given, the numbers of the modules."""
    found: dict[int, set[int]] = {}
    for one in training.events(Forward):
        if isinstance(one.module, Object):
            for output in (one.output, *contents(one.output)):
                found.setdefault(output.uid, set()).add(one.module.uid)
    return found


class _Run(NamedTuple):
    """A way through the program, and where each event stands on it."""

    events: list[Event]
    places: dict[int, list[int]]

    @staticmethod
    def of(events: list[Event]) -> _Run:
        places: dict[int, list[int]] = {}
        for place, event in enumerate(events):
            places.setdefault(id(event), []).append(place)
        return _Run(events, places)

    def between(self, forward: Forward, backward: Backward) -> Iterator[list[Event]]:
        """What comes after a forward, up to the last of its backwards before it runs again."""
        begins, ends = self.places.get(id(forward), []), self.places.get(id(backward), [])
        for begin, next_one in pairwise([*begins, len(self.events)]):
            after = bisect_left(ends, next_one)
            if after and ends[after - 1] > begin:
                yield self.events[begin + 1 : ends[after - 1] + 1]


def _between(forward: Forward, backward: Backward, users: _Users) -> Iterator[OptimizerStep]:
    """The steps of a forward's layers that on some way through come before its backward, but after another one."""
    stepped = users.of_layers(forward)
    for events in (events for run in users.runs for events in run.between(forward, backward)):
        others: list[Backward] = []
        changed: list[OptimizerStep] = []
        for event in events:
            if isinstance(event, OptimizerStep):
                if event in stepped and any(users.has_gradients(event, one) for one in others):
                    changed.append(event)
            elif isinstance(event, Backward):
                if event is backward:
                    yield from changed
                if set(event.guards) <= set(backward.guards):
                    others.append(event)
