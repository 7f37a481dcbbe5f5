"""What tensors are made of, and by how many axes they differ from it."""

from __future__ import annotations

from typing import NamedTuple

from trainlint.facts.model.elements import number_of
from trainlint.facts.model.values import Constant, Items, Op, Value, constant

_SAME = frozenset(
    "output to type float double half bfloat16 long int bool cuda cpu detach data clone contiguous sigmoid softmax "
    "log_softmax round exp numpy alias transpose permute".split()
)
_BY_NUMBER = frozenset("> >= < <= gt ge lt le * / + -".split())
MOST = 20
"""Steps that are looked at."""


class Made(NamedTuple):
    """What a tensor is made of, how many axes were added on the way, whether that is certain, and whether the largest
    was chosen along an axis. An axis of length 1 in front does not count: `[1, N]` and `[N]` fit each other."""

    of: Value
    added: int = 0
    is_sure: bool = True
    is_chosen: bool = False


def made(value: Value) -> Made:
    """What a tensor is, before steps that keep or change the number of its axes in sight."""
    found = Made(value)
    for _ in range(MOST):
        op = found.of
        if not isinstance(op, Op) or not op.inputs or op.written:
            break
        step = _step(op)
        if step is None:
            break
        found = Made(
            step.of,
            found.added + step.added,
            found.is_sure and step.is_sure,
            found.is_chosen or step.is_chosen,
        )
    return found


def _step(op: Op) -> Made | None:
    """What an operation works on, and what it does to the number of axes; None where that is not known."""
    first = op.inputs[0]
    if op.name in _SAME:
        return Made(first)
    if op.name in _BY_NUMBER:
        return Made(first) if len(op.inputs) == 2 and number_of(op.inputs[1]) is not None else None
    if op.name in ("unsqueeze", "squeeze") and number_of(op.option(1, "dim")) == 0:
        return Made(first)
    if op.name == "unsqueeze":
        return Made(first, 1)
    if op.name == "squeeze":
        return Made(first, -1, is_sure=False) if op.option(1, "dim") is not None else None
    if op.name == "argmax":
        return _chosen(first, op)
    if op.name in ("view", "reshape"):
        sizes = [number_of(one) for one in op.inputs[1:]]
        return Made(first, 1, is_sure=False) if sizes == [-1, 1] else None
    if op.name == "getitem":
        return _part(op)
    if op.name == "getattr" and constant(op.options.get("name")) == "indices":
        return _chosen(first.inputs[0], first) if isinstance(first, Op) and first.name == "max" else None
    return None


def _chosen(of: Value, op: Op) -> Made | None:
    if not isinstance(number_of(op.option(1, "dim")), int):
        return None
    keeps = op.option(2, "keepdim")
    is_kept = constant(keeps) if keeps is not None else False
    return Made(of, 0 if is_kept else -1, is_chosen=True) if isinstance(is_kept, bool) else None


def _part(op: Op) -> Made | None:
    """`scores.max(1)[1]`, `y[:, None]` and `y[:, 0]`."""
    whole, index = op.inputs[0], op.options.get("index")
    if isinstance(whole, Op) and whole.name == "max" and number_of(index) == 1 and len(whole.inputs):
        return _chosen(whole.inputs[0], whole)
    if not isinstance(index, Items):
        return None
    added = 0
    for number, one in enumerate(index.items):
        if isinstance(one, Constant) and one.value is None:
            added += number > 0
        elif isinstance(number_of(one), int):
            added -= 1
        elif not isinstance(one, Op) or one.name != "[:]":
            return None
    return Made(whole, added)
