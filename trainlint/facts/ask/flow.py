"""What goes into what, through whatever operations, or only those that keep the graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from trainlint.facts.api.classes import MODULE, PARAMETER
from trainlint.facts.api.gradients import INTEGERS, NO_GRADIENT
from trainlint.facts.api.operations import ABOUT, LIKE_ANOTHER
from trainlint.facts.ask.asking import question, reached
from trainlint.facts.ask.attachment import attachment, cuts, has_attached_input, is_index, terms
from trainlint.facts.ask.contents import contents
from trainlint.facts.model.events.losses import Accumulated
from trainlint.facts.model.values import (
    Carried,
    Choice,
    Constant,
    Guards,
    Op,
    Unknown,
    Value,
    compatible,
)


def _never(_: Op) -> bool:
    return False


def made_of(value: Value, ends: Callable[[Op], bool] = _never, under: Guards = ()) -> Iterator[Value]:
    """A value and what it is made of, up to the operations that `ends` names, as far as conditions leave it open."""

    def into(one: Value) -> Iterable[Value]:
        if isinstance(one, Choice):
            return [option for guards, option in one.options if compatible(guards, under)]
        return () if isinstance(one, Op) and ends(one) else one.parts()

    return reached([value], into)


def graph_of(loss: Value, loops: tuple[int, ...] | None) -> frozenset[int] | None:
    """The numbers of the operations whose graph `backward` goes through.

    Args:
        loops: the loops around that `backward`; with them, None where something else may hold on to the graph, or
            where it may be older than this iteration. Without them, everything is looked at.
    """
    if loops is not None and any(isinstance(one, (Unknown, Carried)) for one in terms(loss)):
        return None
    found: set[int] = set()
    for one in made_of(loss, _ends_graph):
        if loops is not None and isinstance(one, Carried) and one.loop in loops:
            return None  # of an earlier iteration; not so what a loop over layers, or over time, carries on
        if isinstance(one, Op) and not _ends_graph(one):
            is_old = one.attached is None and bool(loops) and (loops or (0,))[-1] not in one.loops
            if loops is not None and is_old:
                return None
            found.add(one.uid)
    return frozenset(found)


def _ends_graph(op: Op) -> bool:
    """Whether nothing of the graph is behind an operation."""
    if op.attached is not None:
        return not op.attached or op.name == PARAMETER
    if op.name in (PARAMETER, "parameters") or _is_of_parameters(op) or cuts(op) or op.name in NO_GRADIENT:
        return True
    way = attachment(op)
    return not (way.attached or way.uncertain)


def _is_of_parameters(op: Op) -> bool:
    """Whether it is one of the parameters that a loop goes through."""
    first = op.inputs[0] if op.name == "iterate" and op.inputs else None
    return isinstance(first, Op) and first.name == "parameters"


def is_made_of(value: Value, wanted: Value, with_graph: bool = False) -> bool:
    """Whether one value goes into another, through whatever operations, or only those that keep its graph."""
    return is_among(wanted, _numbers_inside(value, with_graph))


def is_among(value: Value, numbers: frozenset[int]) -> bool:
    """Whether a value, or something that it contains, is one of those with these numbers."""
    return value.uid in numbers or any(one.uid in numbers for one in contents(value))


def all_that_makes(values: Iterable[Value], with_graph: bool = False) -> frozenset[int]:
    """The numbers of some values and of all that goes into them, in the sense of `is_made_of`."""
    return frozenset[int]().union(*(_numbers_inside(one, with_graph) for one in values))


@question(start=frozenset(), unknown=frozenset())
def _numbers_inside(value: Value, with_graph: bool) -> frozenset[int]:
    """The numbers of a value and of all that goes into it, in the same sense."""
    return frozenset(one.uid for one in made_of(value, _is_cut if with_graph else _never))


def _is_cut(op: Op) -> bool:
    return cuts(op) or op.name in NO_GRADIENT


def is_recurrence(sum_up: Accumulated) -> bool:
    """Whether what is added follows from the sum so far, as in `x = x + layer(x)`."""
    before = [one for one in sum_up.result.parts() if one is not sum_up.value]
    return any(is_made_of(sum_up.value, one) for one in before if not isinstance(one, Constant))


def without_gradient(value: Value) -> Iterator[Op]:
    """Operations such as `argmax` and `==`, and the indices of `max`, between a value and trainable parameters."""

    def ends(op: Op) -> bool:
        return (op.name in NO_GRADIENT or is_index(op)) and has_attached_input(op)

    for one in made_of(value, ends):
        if isinstance(one, Op) and ends(one):
            yield one


_DRAWN = frozenset("rand randn randint randperm normal poisson".split())
_OF_DATA = INTEGERS | _DRAWN | {"iterate", "tensor", "from_numpy"}


def is_data(value: Value) -> bool:
    """Whether a tensor certainly is drawn from a loader or another iterable, or at random, or made of numbers that no tensor
    holds, and of nothing that a model gives."""
    found = attachment(value)
    if found.uncertain or not found.is_nothing:
        return False
    made = [one for one in reached([value], _values, most=400) if isinstance(one, Op)]
    if any(_is_of_model(one) or _is_filled_with_outputs(one) for one in made):
        return False
    return any(one.name in _OF_DATA for one in made)


def _values(value: Value) -> Iterable[Value]:
    """What the numbers in a tensor are made of, and what was written into it: not the tensors that only tell its shape, type or
    device."""
    if not isinstance(value, Op):
        return value.parts()
    if value.name in ABOUT:
        return ()
    parts = value.inputs[:1] if value.name in LIKE_ANOTHER else value.parts()
    return (*parts, *(one for write in value.written for one in write.inputs[2:]))


def _is_of_model(op: Op) -> bool:
    """Whether a layer has made it: what a frozen teacher gives has no gradient, and is no data."""
    return op.owner is not None and op.owner.is_a(MODULE)


def _is_filled_with_outputs(op: Op) -> bool:
    """Whether outputs of a model were written into a tensor: `scores = zeros(...)`, then `scores[t] = net(x)`."""
    return any(
        write.name == "setitem" and attachment(one).attached
        for write in op.written
        for one in write.inputs[2:]
    )
