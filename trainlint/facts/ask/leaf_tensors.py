"""Tensors that modules keep to be trained, and that are no parameters."""

from __future__ import annotations

from collections.abc import Iterator

from trainlint.facts.api.classes import MODULE, OPTIMIZER
from trainlint.facts.api.operations import FRESH
from trainlint.facts.ask.asking import question, reached
from trainlint.facts.ask.contents import handed_over, taken_apart
from trainlint.facts.ask.flow import is_made_of
from trainlint.facts.ask.holding import wants_gradient
from trainlint.facts.ask.stepped import numbers_held
from trainlint.facts.model.events.event import Escape
from trainlint.facts.model.events.parameters import ParametersRead
from trainlint.facts.model.events.steps import Backward, OptimizerStep
from trainlint.facts.model.modules import Unregistered
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Op, Value

_MAKES = FRESH | {"tensor", "Variable"}


def kept_as_tensors(training: Training) -> Iterator[Unregistered]:
    """Attributes of modules that an optimizer holds: tensors with `requires_grad=True` behind a loss, which no optimizer is
    given, and whose gradient nobody reads."""
    steps = training.events(OptimizerStep)
    for module in training.objects if steps else ():
        if not module.is_a(MODULE) or module.definition is None:
            continue
        found = [
            (name, one)
            for name, one in module.attributes.items()
            if isinstance(one, Op) and one.name in _MAKES and wants_gradient(one)
        ]
        if not found or not any(module.uid in numbers_held(training, one.optimizer) for one in steps):
            continue
        for name, tensor in found:
            if tensor.at is not None and tensor.uid not in _used(training) and _teaches(training, tensor):
                yield Unregistered(tensor.at, module.type, name, "leaf", "Parameter", ())


def _teaches(training: Training, tensor: Value) -> bool:
    return any(is_made_of(one.loss, tensor, with_graph=True) for one in training.events(Backward))


@question(start=frozenset(), unknown=frozenset())
def _used(training: Training) -> frozenset[int]:
    """The numbers of all that optimizers are given, that code out of sight may get at, and whose gradients are read."""
    given = [
        value
        for one in training.objects
        if one.is_a(OPTIMIZER)
        for value in (*one.args, *one.options.values())
    ]
    seen = [value for one in training.events(Escape) for value in one.values]
    seen += [one.target for one in training.events(ParametersRead)]
    found = {one.uid for one in reached(given, taken_apart, 20_000)}
    return frozenset(found | {one.uid for value in seen for one in handed_over(value)})
