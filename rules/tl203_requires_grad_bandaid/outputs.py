"""Outputs of a model that have lost their graph, and are made leaves instead of the loss of which they are all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from trainlint.facts.api.classes import MODULE
from trainlint.facts.api.meanings import KEEPS
from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.attachment import attachment, cuts, terms
from trainlint.facts.model.events.frameworks import StepMethod
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.events.parameters import ParametersRead, RequiresGrad
from trainlint.facts.model.events.steps import Backward
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Op, Table, Value, alternatives, constant


class Leaf(NamedTuple):
    """An output that asks for a gradient, and the backward that gets no further than it."""

    event: RequiresGrad
    backward: Backward


def outputs_made_leaves(training: Training) -> Iterator[Leaf]:
    """Each prediction of all losses of a backward that was cut off its model and then asked for a gradient, where no other
    backward goes on from there and nobody looks at that gradient."""
    wanted = [one for one in training.events(RequiresGrad) if constant(one.wanted) is True]
    owned = any(one.automatic is True for one in training.events(StepMethod))
    leaves = [one for one in wanted if _is_output(one.target, owned)]
    if not leaves or any(isinstance(one.target, Op) for one in training.events(ParametersRead)):
        return
    losses = {one.output.uid: one for one in training.events(LossCall)}
    backwards = training.events(Backward)
    for backward in backwards:
        given = [losses.get(term.uid) for term in terms(_loss_in(backward.loss))]
        found = [_only_leaf(one, leaves) if one is not None else None for one in given]
        first = found[0] if found else None
        others = (attachment(one.loss) for one in backwards if one is not backward)
        if (
            first is not None
            and None not in found
            and not any(one.attached or one.uncertain for one in others)
        ):
            yield Leaf(first, backward)


def _loss_in(returned: Value) -> Value:
    """The loss in what a step of a framework's loop may return."""
    return returned.entries.get("loss", returned) if isinstance(returned, Table) else returned


def _is_output(value: Value, owned: bool) -> bool:
    """Whether it is what a module gave, without its graph.

    Args:
        owned: whether a framework trains by the loss alone: then whatever was called is meant to learn from it.
    """
    if not isinstance(value, Op):
        return False
    of = value.inputs[0] if cuts(value) and value.inputs else value if value.records is False else None
    if not isinstance(of, Op):
        return False
    return (owned and of.name == "call") or (of.owner is not None and of.owner.is_a(MODULE))


def _only_leaf(loss: LossCall, leaves: Sequence[RequiresGrad]) -> RequiresGrad | None:
    """The leaf that a loss compares with something that does not learn."""
    given, target = loss.input, loss.target
    if given is None or target is None or attachment(target).attached:
        return None
    every = [_leaf_of(one, leaves) for one in alternatives(given)]
    return every[0] if None not in every else None


def _leaf_of(given: Value, leaves: Sequence[RequiresGrad]) -> RequiresGrad | None:
    on_the_way = list(reached([given], _kept))
    return next((one for one in leaves if any(one.target is value for value in on_the_way)), None)


def _kept(value: Value) -> Sequence[Value]:
    return (
        value.inputs[:1] if isinstance(value, Op) and value.name in (*KEEPS, "softmax", "log_softmax") else ()
    )
