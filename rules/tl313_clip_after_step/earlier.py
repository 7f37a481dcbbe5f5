"""What happened before the clipped model was made, and to nothing that it holds."""

from __future__ import annotations

from collections.abc import Sequence

from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.holding import numbers_inside
from trainlint.facts.ask.stepped import modules_held
from trainlint.facts.model.events.event import Escape, Event
from trainlint.facts.model.events.parameters import ParametersRead
from trainlint.facts.model.events.steps import Backward, OptimizerStep
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, Value


class Clipped:
    """The models of an optimizer, as far as all of them are certainly made in sight, and not by code that ran before."""

    def __init__(self, training: Training, step: OptimizerStep) -> None:
        held, complete = modules_held(step.optimizer)
        known = {one.uid for one in training.objects}
        models = [one for one in held if isinstance(one, Object) and one.uid in known]
        self._training = training
        self._models = models if complete and len(models) == len(held) else []
        self._numbers = frozenset[int]().union(*(numbers_inside(one) | {one.uid} for one in self._models))
        self._made = [one for one in training.objects if one.uid in self._numbers]

    def come_after(self, event: Event) -> bool:
        """Whether none of them was there yet when something happened, which was done to nothing that they hold: gradients of
        theirs cannot be from there."""
        if not self._models or not all(self._training.is_made_after(one, event) for one in self._made):
            return False
        return all(one.uid not in self._numbers for one in reached(_concerned(event)))


def _concerned(event: Event) -> Sequence[Value]:
    match event:
        case Backward():
            return (event.loss,)
        case ParametersRead():
            return (event.target,)
        case Escape():
            return (*event.values, *event.tensors)
    return ()
