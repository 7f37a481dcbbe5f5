"""Terms of a loss that are made of gradients alone, of which no graph was kept."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from trainlint.facts.api.classes import MODULE, PARAMETER
from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.attachment import terms
from trainlint.facts.ask.behind_losses import operations_behind
from trainlint.facts.model.events.event import Returned
from trainlint.facts.model.events.steps import Backward
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Constant, Object, Op, Value, constant
from trainlint.finding import Place

_GRADIENTS = "autograd.grad"
_MODELS = frozenset(("output", "call", "framework", PARAMETER))
_PENALTY = re.compile(r"penalty|loss|regulari[sz]|_reg$|_gp$|^gp$|^r1|^r2")
_REDUCES = ("mean", "sum", "+", "*", "mse_loss")
_MOST = 300


def of_gradients(training: Training) -> Iterator[tuple[Op, Place]]:
    """The calls of `autograd.grad` without `create_graph=True` of which a term of a loss is made, and the loss's place."""
    if _GRADIENTS not in operations_behind(training):
        return
    for backward in training.events(Backward):
        for term in terms(backward.loss):
            yield from ((one, backward.at) for one in _constant_in(term))
    for returned in training.events(Returned):
        value = returned.value
        if (
            _PENALTY.search(training.name.rpartition(".")[2])
            and isinstance(value, Op)
            and value.name in _REDUCES
        ):
            yield from ((one, returned.at) for one in _constant_in(value))


def _constant_in(term: Value) -> list[Op]:
    """The gradients that a term is made of, where all else in it has no parameters."""
    inside = list(reached([term], _into, _MOST))
    found = [one for one in inside if isinstance(one, Op) and one.name == _GRADIENTS]
    if not found or len(inside) == _MOST or any(_may_learn(one) for one in inside):
        return []
    if any(_goes_in(one, inside) for one in found):
        return []
    return found if all(_keeps_nothing(one) for one in found) else []


def _goes_in(gradients: Op, inside: list[Value]) -> bool:
    """Whether a term also holds what the gradients are those of: `(slope.detach() * actions).mean()` moves the actions."""
    given = {one.uid for value in gradients.inputs[:2] for one in reached([value], _listed)}
    return any(isinstance(one, Op) and one.uid in given for one in inside)


def _listed(value: Value) -> Iterable[Value]:
    return () if isinstance(value, Op) else value.parts()


def _into(value: Value) -> Iterable[Value]:
    return () if isinstance(value, Op) and value.name == _GRADIENTS else value.parts()


def _may_learn(value: Value) -> bool:
    if isinstance(value, Object):
        return value.is_a(MODULE)
    if not isinstance(value, Op):
        return False
    return value.name in _MODELS or value.owner is not None or (value.is_leaf and value.name != _GRADIENTS)


def _keeps_nothing(op: Op) -> bool:
    """Whether no graph of the gradients is kept: so it is where nothing is said."""
    asked = op.option(4, "create_graph")
    return not op.is_open and (asked is None or (isinstance(asked, Constant) and not constant(asked)))
