"""Which part of a sequence a tensor is, and by how many steps the targets of a loss are ahead of a model's inputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from trainlint.facts.api.gradients import NO_GRADIENT
from trainlint.facts.api.layers import RECURRENT
from trainlint.facts.api.operations import CREATES
from trainlint.facts.api.torch_names import shifts_labels
from trainlint.facts.ask.asking import question
from trainlint.facts.ask.flow import made_of
from trainlint.facts.ask.sums import Sum, added, summed
from trainlint.facts.model.effort import spend
from trainlint.facts.model.events.batches import Batched
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Carried, Choice, Constant, Items, Object, Op, Table, Value, constant

_SAME_PLACES = frozenset(
    "view reshape flatten contiguous to long int type cuda cpu detach data identity squeeze unsqueeze ravel tensor "
    "LongTensor as_tensor from_numpy astype Variable t T transpose permute view_as numpy pin_memory".split()
)
"""Operations that leave every token at its place in the sequence."""

_STACKS = frozenset("stack numpy.stack numpy.array tensor".split())
"""Operations that make one tensor of many parts of a sequence."""

_MOVES = frozenset(
    "call framework roll pad flip narrow index_select gather masked_select unfold scatter cumsum".split()
)
"""Operations after which nobody can say which position is which."""

_APPENDS = frozenset("cat concat concatenate".split())
_JOINS = frozenset("cat concat concatenate stack hstack vstack".split())
_DRAWN = frozenset(("randint", "multinomial"))
"""Operations that draw tokens, as made-up data has them."""

_MOST_STEPS = 60


class Part(NamedTuple):
    """A part of a whole.

    Args:
        start: where it begins.
        cuts: the numbers of the slices on the way that leave out something at the front.
    """

    of: Value
    start: Sum
    cuts: tuple[int, ...]


class Lead(NamedTuple):
    """By how many steps one part of a sequence is ahead of another, and the largest step of a single slice."""

    steps: int
    largest: int


class Tokens(NamedTuple):
    """Tokens that a prediction is made from, and where they are looked up."""

    value: Value
    at: Op


Batches = Mapping[int, Value]
"""What a batch of each loader is made of, by the loader's number."""


def batches(training: Training) -> Batches:
    return {event.loader.uid: event.batch for event in training.events(Batched)}


def lead(given: Value, target: Value, known: Batches) -> Lead | None:
    """By how many steps `target` is ahead of `given`; None where they are not certainly parts of one sequence."""
    found = {
        _lead(part(one, known), part(other, known, copies=True)) for one, other in _together(given, target)
    }
    return found.pop() if len(found) == 1 else None


def _lead(given: Part | None, target: Part | None) -> Lead | None:
    if (
        given is None
        or target is None
        or given.of.uid != target.of.uid
        or given.start.summands != target.start.summands
    ):
        return None
    return Lead(target.start.number - given.start.number, max((*given.cuts, *target.cuts), default=0))


def _together(one: Value, other: Value) -> Iterator[tuple[Value, Value]]:
    """What two values are at once, where both come about in the same ways."""
    pending = [(one, other)]
    seen: set[tuple[int, int]] = set()
    while pending:
        both = pending.pop()
        if (both[0].uid, both[1].uid) in seen:
            continue
        seen.add((both[0].uid, both[1].uid))
        spend()
        ways = _same_ways(_stripped(both[0]), _stripped(both[1]))
        if ways:
            pending.extend(ways)
        else:
            yield both


def _same_ways(first: Value, second: Value) -> list[tuple[Value, Value]]:
    match first, second:
        case Choice(options=ways), Choice(options=others):
            if [guards for guards, _ in ways] == [guards for guards, _ in others]:
                return [(one, other) for (_, one), (_, other) in zip(ways, others, strict=True)]
        case Carried(), Carried() if first.loop == second.loop:
            starts = (first.start, second.start)
            if first.back is not None and second.back is not None:
                return [starts, (first.back, second.back)]
            return [starts]
    return []


def _stripped(value: Value) -> Value:
    while (
        isinstance(value, Op)
        and value.name in _SAME_PLACES
        and value.inputs
        and not isinstance(value.inputs[0], Items)
    ):
        value = value.inputs[0]
    return value


def part(value: Value | None, known: Batches, *, copies: bool = False) -> Part | None:
    """Which part of which whole a tensor is.

    Args:
        copies: look through copies too, which a program makes to change them.
    """
    begins = Sum()
    cuts = []
    is_of_each = False
    for _ in range(_MOST_STEPS):
        match value:
            case Op(name=name, inputs=(Items(items=[only], exact=False), *_)) if (
                name in _STACKS and _is_window(only)
            ) or _pads_behind(value, name):
                value, is_of_each = only, True
            case Op(name=name, inputs=(inner, *_)) if not isinstance(inner, Items) and (
                name in _SAME_PLACES or (name == "clone" and copies)
            ):
                value = inner
            case Op(name="getitem") if (drawn := drawn_from(value, known)) is not None:
                value = drawn
            case Op(name="getitem", inputs=(inner, *_)) if is_slice(value):
                start = _start(value)
                if start is None:
                    return None
                begins = added(begins, start)
                cuts.append(start.number)
                value = inner
            case Op(name="roll", inputs=(inner, *_)) if copies and (ahead := _rolled(value)) is not None:
                begins = added(begins, Sum(number=ahead))
                cuts.append(ahead)
                value = inner
            case Op() if copies and (filled := _filled_up(value, moved=any(cuts))) is not None:
                value = filled
            case Op(name="iterate", inputs=(source, *_)) if is_of_each and not isinstance(source, Object):
                return None  # one of many: another each time
            case Value() if not isinstance(value, (Constant, Items)):
                return Part(value, begins, tuple(cuts))
            case _:
                return None
    return None


def _rolled(op: Op) -> int | None:
    """By how many positions `roll` brings later tokens to the front of a sequence; None where it does anything else."""
    by, axis = constant(op.option(1, "shifts")), constant(op.option(2, "dims"))
    return -by if type(by) is int and by < 0 and axis in (1, -1) else None


def _filled_up(op: Op, moved: bool) -> Value | None:
    """What stands at its place in a copy that is longer, or where some of it is left out: `cat([x[:, 1:], filler], 1)`, a
    `pad` at the end, and labels that have `moved` and are masked; None for anything else."""
    match op:
        case Op(name=name, inputs=(Items(items=[Op() as first, _], exact=True), *_)) if (
            name in _APPENDS and constant(op.option(1, "dim") or op.options.get("axis")) in (1, -1)
        ):
            return first if first.name == "getitem" and is_slice(first) else None
        case Op(name="pad", inputs=(Op() as first, Items(items=[Constant(value=0), _], exact=True), *_)):
            return first if first.name == "getitem" and is_slice(first) else None
        case Op(name="masked_fill", inputs=(first, *_)):
            return first if moved else None
    return None


def _pads_behind(op: Op, name: str) -> bool:
    """Whether sequences are put together as they are, and padded at their ends."""
    side = constant(op.options.get("padding_side", Constant(value="right")))
    return name.rpartition(".")[2] == "pad_sequence" and side == "right"


def _is_window(value: Value) -> bool:
    """Whether one of many is a part of a sequence, and no single token."""
    inner = _stripped(value)
    return isinstance(inner, Op) and inner.name == "getitem" and is_slice(inner)


def drawn_from(value: Value | None, known: Batches) -> Value | None:
    """What a part of a loader's batch was made of, by the dataset and what puts its samples together."""
    keys = []
    while isinstance(value, Op) and value.name == "getitem" and value.inputs:
        keys.append(constant(index_of(value)))
        value = value.inputs[0]
    match value:
        case Op(name="iterate", inputs=(Object() as loader, *_)):
            found = known.get(loader.uid)
        case _:
            return None
    while keys and found is not None:
        found = _part_of(found, keys.pop())
    return found if not isinstance(found, (Items, Table)) else None


def _part_of(batch: Value, key: object) -> Value | None:
    if isinstance(batch, Items) and batch.exact and isinstance(key, int) and key < len(batch.items):
        return batch.items[key]
    return batch.entries.get(key) if isinstance(batch, Table) and isinstance(key, str) else None


def index_of(op: Op) -> Value | None:
    """What a value is indexed with."""
    return op.options.get("index") or (op.inputs[1] if len(op.inputs) > 1 else None)


def is_slice(op: Op) -> bool:
    """Whether an index takes a part of a tensor along its axes, and no single element of one."""
    index = index_of(op)
    axes = index.items if isinstance(index, Items) and index.kind == "tuple" else [index]
    return all(_is_cut(one) or (isinstance(one, Constant) and one.value is Ellipsis) for one in axes)


def _is_cut(axis: Value | None) -> bool:
    return isinstance(axis, Op) and axis.name == "[:]" and len(axis.inputs) > 2


def _start(op: Op) -> Sum | None:
    """Where a slice begins, along the one axis on which it leaves out something; None where that is not clear."""
    index = index_of(op)
    axes = index.items if isinstance(index, Items) else [index]
    slices = [one for one in axes if isinstance(one, Op)]
    if any(constant(one.inputs[2]) not in (None, 1) for one in slices):
        return None
    begun = [one.inputs[0] for one in slices if not _is_none(one.inputs[0])]
    if len(begun) > 1:
        return None
    start = summed(begun[0]) if begun else Sum()
    return start if start is not None and start.number >= 0 else None


def _is_none(value: Value) -> bool:
    return isinstance(value, Constant) and value.value is None


# What a prediction is made from


@question(start=None, unknown=None)
def tokens(prediction: Value) -> list[Tokens] | None:
    """The tokens that a prediction is made from, each of which still stands at its own place in the sequence.

    None where something on the way may move them.
    """
    found = []
    for one in _content(prediction):
        if not isinstance(one, Op):
            continue
        if shifts_labels(one.name):
            given = one.option(0, "input_ids")
            if given is None:
                return None
            found.append(Tokens(given, one))
        elif one.name in ("torch.nn.Embedding", "embedding"):
            if one.inputs and not _is_position(one.inputs[0]):
                found.append(Tokens(one.inputs[0], one))
        elif _may_move(one):
            return None
    return found


def _content(value: Value) -> Iterator[Value]:
    return made_of(value, _ends)


def _ends(op: Op) -> bool:
    is_lookup = op.name in ("torch.nn.Embedding", "embedding") or shifts_labels(op.name)
    return is_lookup or op.name in NO_GRADIENT or op.name in CREATES


def _may_move(op: Op) -> bool:
    if op.name == "getitem":
        if _is_state(op):
            return True
        return _is_last(op) or (is_slice(op) and _start(op) != Sum())
    if op.name in _JOINS:
        axis = constant(op.option(1, "dim"))
        return axis not in (-1, 2)
    return op.name in _MOVES


def _is_state(op: Op) -> bool:
    """The last state of a recurrent layer, which knows the whole sequence."""
    inner = op.inputs[0] if op.inputs else None
    while isinstance(inner, Op) and inner.name == "output":
        inner = inner.inputs[0]
    return isinstance(inner, Op) and inner.name in RECURRENT and constant(index_of(op)) != 0


def _is_last(op: Op) -> bool:
    """One position of a sequence."""
    index = index_of(op)
    axes = index.items if isinstance(index, Items) else []
    return any(isinstance(one, Constant) and isinstance(one.value, int) for one in axes)


def _is_position(value: Value) -> bool:
    """Whether what is looked up are positions: numbers that are counted, not read."""
    if any(isinstance(one, Op) and one.name in _DRAWN for one in made_of(value, _is_size)):
        return False
    made = list(made_of(value, lambda op: op.name in CREATES or op.name in NO_GRADIENT))
    return any(isinstance(one, Op) and one.name in ("arange", "range") for one in made) or all(
        isinstance(one, (Constant, Object, Items))
        or (isinstance(one, Op) and one.name in ("getattr", "getitem", "[:]", "shape", "size"))
        for one in made
    )


def _is_size(op: Op) -> bool:
    return op.name in ("shape", "size", "device", "builtins.len")


class Prediction(NamedTuple):
    """What a loss compares with its targets: a model's outputs, from a position on."""

    of: Value
    start: int


def prediction(loss: LossCall) -> Prediction | None:
    """The outputs that a loss is given; None where it is not clear which positions they are."""
    value: Value | None = loss.input
    number = 0
    for _ in range(_MOST_STEPS):
        if not isinstance(value, Op) or not value.inputs:
            break
        if value.name == "getitem" and is_slice(value):
            start = _start(value)
            if start is None or start.summands:
                return None
            number += start.number
        elif value.name not in _SAME_PLACES and value.name != "output":
            break
        value = value.inputs[0]
    return Prediction(value, number) if value is not None else None
