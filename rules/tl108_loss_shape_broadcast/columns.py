"""Values of one for each sample, as a column `[N, 1]` or as a row `[N]`, where nothing says how large they are.

`net(x).gather(1, actions.unsqueeze(1))` is a column, and `net(x).max(1)[0]` is a row.
"""

from __future__ import annotations

from typing import Literal

from trainlint.facts.ask.asking import question
from trainlint.facts.ask.new_axes import new_axis
from trainlint.facts.ask.shapes import shape_read
from trainlint.facts.model.elements import number_of
from trainlint.facts.model.values import Choice, Constant, Items, Op, Value, constant

Kind = Literal["column", "row"]

_KEEPS = frozenset(
    "detach data clone contiguous float double half to cuda cpu clamp output neg abs pow ** from_numpy tensor "
    "as_tensor FloatTensor numpy.power".split()
)
_ARITHMETIC = frozenset("+ - * / add sub mul div".split())
_LOSSES = frozenset("mse_loss l1_loss smooth_l1_loss huber_loss".split())
_OF_CLASSES = "cross_entropy"
_SHAPES = ("view", "reshape")
_LAST = (1, -1)


@question(start=None, unknown=None)
def kind(value: Value) -> Kind | None:
    """Which of the two a tensor is; None where that is not known."""
    shape = shape_read(value)
    if shape is not None:
        if len(shape) == 1:
            return "row" if shape[0] != 1 else None
        return "column" if len(shape) == 2 and shape[1] == 1 and shape[0] != 1 else None
    if not isinstance(value, Op) or not value.inputs:
        return None
    first = value.inputs[0]
    if value.name in _KEEPS:
        return kind(first)
    if value.name in _SHAPES:
        return "column" if _ends_in_one(value) else None
    if value.name == _OF_CLASSES:
        return "row" if is_loss_of_each(value) and _are_plain_logits(first) else None
    if value.name in _ARITHMETIC or is_loss_of_each(value):
        kinds = {found for one in value.inputs if (found := kind(one)) is not None}
        return kinds.pop() if len(kinds) == 1 else None
    if value.name == "linear" and value.owner is not None and not value.owner.is_open:
        return "column" if constant(value.owner.argument(1, "out_features")) == 1 else None
    return "row" if _is_drawn(value) else _chosen(value) or _turned(value, first)


def is_loss_of_each(op: Op) -> bool:
    """Whether it is a loss that is kept for each sample."""
    given = op.options.get("reduction") or (
        op.owner.options.get("reduction") if op.owner is not None else None
    )
    return (op.name in _LOSSES or op.name == _OF_CLASSES) and constant(given) == "none"


def _are_plain_logits(value: Value) -> bool:
    """Whether logits come straight from a linear layer: with axes beside the samples, their classes would have to be moved to
    the second place first."""
    while isinstance(value, Op) and value.name == "output" and value.inputs:
        value = value.inputs[0]
    return isinstance(value, Op) and value.name == "linear"


def _is_drawn(op: Op) -> bool:
    """Whether it holds the probabilities by which its index was drawn: `p[numpy.random.choice(len(p), size=n, p=p)]`."""
    match op:
        case Op(
            name="getitem", inputs=(whole, *_), options={"index": Op(name="numpy.random.choice") as index}
        ):
            return index.option(1, "size") is not None and index.option(3, "p") is whole
    return False


def _chosen(op: Op) -> Kind | None:
    """What is picked for each sample from the outputs of a model."""
    if op.name == "gather" and number_of(op.option(1, "dim")) in _LAST:
        index = op.option(2, "index")
        return "column" if index is not None and _ends_in_one(index) else None
    if op.name == "amax":
        return _reduced(op)
    most = op.inputs[0]
    is_first = op.name == "getitem" and number_of(op.options.get("index")) == 0
    is_values = op.name == "getattr" and constant(op.options.get("name")) == "values"
    return _reduced(most) if isinstance(most, Op) and most.name == "max" and (is_first or is_values) else None


def _reduced(op: Op) -> Kind | None:
    keeps = op.options.get("keepdim") or (op.inputs[2] if len(op.inputs) > 2 else None)
    is_called = isinstance(op.inputs[0], Op) and op.inputs[0].name in ("output", "call")
    if not is_called or number_of(op.option(1, "dim")) not in _LAST:
        return None
    if keeps is None:
        return "row"
    return "column" if isinstance(keeps, Constant) and keeps.value is True else None


def _turned(op: Op, first: Value) -> Kind | None:
    found = kind(first)
    if new_axis(op) in _LAST:
        return "column" if found == "row" else None
    if op.name == "squeeze":
        return "row" if found == "column" else None
    return None


@question(start=False, unknown=False)
def _ends_in_one(index: Value) -> bool:
    """Whether an index has a last axis of length 1, by how it is made."""
    if isinstance(index, Choice):
        return all(map(_ends_in_one, index.parts()))
    if not isinstance(index, Op) or not index.inputs:
        return False
    if index.name in ("long", "to", "type", "int", "from_numpy"):
        return _ends_in_one(index.inputs[0])
    if index.name == "numpy.vstack":
        return True  # else it would not fit
    if new_axis(index) is not None:
        return new_axis(index) in _LAST
    if index.name in _SHAPES:
        given = index.inputs[1:]
        sizes = given[0].items if len(given) == 1 and isinstance(given[0], Items) else given
        return len(sizes) == 2 and number_of(sizes[1]) == 1
    shape = shape_read(index)
    return shape is not None and len(shape) == 2 and shape[1] == 1
