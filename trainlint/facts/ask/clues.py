"""What a rule's fix has to know of a fact, beside its place."""

from __future__ import annotations

from typing import Literal

from trainlint.facts.api.classes import MODULE
from trainlint.facts.api.operations import FILLS
from trainlint.facts.ask.asking import question
from trainlint.facts.ask.attachment import attachment
from trainlint.facts.model.events.modules import StateLoaded
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Choice, Object, Op, Value
from trainlint.finding import Place

Applied = Literal["item", "layer", "function"]


def applied(op: Op) -> Applied:
    """How an operation is written: a layer where it is made, as one of a sequence; a layer that is called; or a
    function or method."""
    if op.owner is None:
        return "function"
    return "item" if op.owner.at == op.at else "layer"


@question(start=True, unknown=False)
def has_no_graph(value: Value) -> bool:
    """Whether a tensor certainly has none: nothing that is trained has led to it, or the way is cut."""
    found = attachment(value)
    if found.attached or not found.uncertain:
        return not found.attached
    match value:
        case Op(name="type", inputs=(tensor, *_)):  # to what, is no matter
            return has_no_graph(tensor)
        case Op(name="call", inputs=(_, *_)) if value.text.endswith(FILLS):
            return all(map(has_no_graph, value.inputs))
        case Choice():
            return all(map(has_no_graph, value.parts()))
    return False


def loaded_as_state(training: Training) -> set[Place]:
    """Where things are made in the very call that loads them as the state of a module."""
    found = set()
    for event in training.events(StateLoaded):
        state, target = event.state, event.target
        is_of_module = isinstance(target, Object) and target.is_a(MODULE)
        if is_of_module and isinstance(state, Op) and state.at is not None and _is_inside(state.at, event.at):
            found.add(state.at)
    return found


def _is_inside(inner: Place, outer: Place) -> bool:
    starts = (outer.line, outer.column) <= (inner.line, inner.column)
    ends = (inner.end_line, inner.end_column) <= (outer.end_line, outer.end_column)
    return inner.path == outer.path and starts and ends
