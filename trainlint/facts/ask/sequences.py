"""Which part of a sequence a tensor is, and by how many steps the targets of a loss are ahead of a model's inputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from trainlint.facts.api.torch_api import CREATES, NO_GRADIENT, RECURRENT
from trainlint.facts.api.torch_names import shifts_labels
from trainlint.facts.ask.flow import made_of
from trainlint.facts.model.events import Batched, LossCall
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

_JOINS = frozenset("cat concat concatenate stack hstack vstack".split())
_MOST_STEPS = 60
_MOST = 4_000


class Part(NamedTuple):
    """A part of a whole.

    Args:
        start: where it begins: what is not known, as opaque keys, and a number.
        cuts: the numbers of the slices on the way that leave out something at the front.
    """

    of: Value
    start: tuple[frozenset[tuple[Any, int]], int]
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
    if given is None or target is None or given.of.uid != target.of.uid or given.start[0] != target.start[0]:
        return None
    return Lead(target.start[1] - given.start[1], max((*given.cuts, *target.cuts), default=0))


def _together(one: Value, other: Value, depth: int = 0) -> Iterator[tuple[Value, Value]]:
    """What two values are at once, where both come about in the same ways."""
    first, second = _stripped(one), _stripped(other)
    pairs: list[tuple[Value | None, Value | None]] = []
    match first, second:
        case Choice(options=ways), Choice(options=others) if [way[0] for way in ways] == [
            way[0] for way in others
        ]:
            pairs = [(way[1], with_it[1]) for way, with_it in zip(ways, others, strict=True)]
        case Carried(), Carried() if first.loop == second.loop:
            pairs = [(first.start, second.start), (first.back, second.back)]
    known = [(this, that) for this, that in pairs if this is not None and that is not None]
    if not known or depth > 4:
        yield one, other
    for this, that in known:
        yield from _together(this, that, depth + 1)


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
    symbols: Counter[Any] = Counter()
    number, cuts = 0, []
    for _ in range(_MOST_STEPS):
        match value:
            case Op(name=name, inputs=(Items(items=[only], exact=False), *_)) if (
                name in _STACKS and _is_window(only)
            ):
                value = only
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
                symbols.update(start[0])
                number += start[1]
                cuts.append(start[1])
                value = inner
            case Op(name="iterate", inputs=(source, *_)) if not isinstance(source, Object):
                return None  # one of many: another each time
            case Value() if not isinstance(value, (Constant, Items)):
                return Part(value, (frozenset(symbols.items()), number), tuple(cuts))
            case _:
                return None
    return None


def _is_window(value: Value) -> bool:
    """Whether one of many is a part of a sequence, and no single token."""
    inner = _stripped(value)
    return isinstance(inner, Op) and inner.name == "getitem" and is_slice(inner)


def drawn_from(value: Value | None, known: Batches) -> Value | None:
    """What a part of a loader's batch was made of, by the dataset and what puts its samples together."""
    match value:
        case Op(name="getitem", inputs=(Op(name="iterate", inputs=(Object() as loader, *_)), *_)):
            batch, key = known.get(loader.uid), constant(index_of(value))
            if isinstance(batch, Items) and batch.exact and isinstance(key, int) and key < len(batch.items):
                return batch.items[key]
            if isinstance(batch, Table) and isinstance(key, str):
                return batch.entries.get(key)
        case Op(name="iterate", inputs=(Object() as loader, *_)):
            found = known.get(loader.uid)
            return found if not isinstance(found, (Items, Table)) else None
    return None


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


def _start(op: Op) -> tuple[Counter[Any], int] | None:
    """Where a slice begins, along the one axis on which it leaves out something; None where that is not clear."""
    index = index_of(op)
    axes = index.items if isinstance(index, Items) else [index]
    slices = [one for one in axes if isinstance(one, Op)]
    if any(constant(one.inputs[2]) not in (None, 1) for one in slices):
        return None
    begun = [one.inputs[0] for one in slices if not _is_none(one.inputs[0])]
    if len(begun) > 1:
        return None
    symbols, number = linear(begun[0]) if begun else (Counter(), 0)
    return (symbols, number) if number >= 0 else None


def _is_none(value: Value) -> bool:
    return isinstance(value, Constant) and value.value is None


def linear(value: Value, depth: int = 0) -> tuple[Counter[Any], int]:
    """A sum as its unknown summands, by opaque keys, and a number."""
    match value:
        case Constant(value=int(number)) if not isinstance(value.value, bool):
            return Counter(), number
        case Op(name="+" | "-" as sign, inputs=(one, other)) if depth < 8:
            (symbols, number), (more, count) = linear(one, depth + 1), linear(other, depth + 1)
            found = Counter(symbols)
            (found.update if sign == "+" else found.subtract)(more)
            kept = Counter({key: times for key, times in found.items() if times})
            return kept, number + count if sign == "+" else number - count
    return Counter({_key(value): 1}), 0


def _key(value: Value, depth: int = 0) -> Any:
    """The same for values that are certainly equal: made the same way of the same things."""
    match value:
        case Constant():
            return ("constant", repr(value.value))
        case Op(name="*" | "+" | "-" | "//" | "iterate" | "getitem" | "int_number" | "item") if depth < 6:
            held = [*value.inputs, *value.options.values()]
            return (value.name, *(_key(one, depth + 1) for one in held))
    return value.uid


# What a prediction is made from


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
        return _is_last(op) or (is_slice(op) and _start(op) != (Counter(), 0))
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
    made = list(made_of(value, lambda op: op.name in CREATES or op.name in NO_GRADIENT))
    return any(isinstance(one, Op) and one.name in ("arange", "range") for one in made) or all(
        isinstance(one, (Constant, Object, Items))
        or (isinstance(one, Op) and one.name in ("getattr", "getitem", "[:]", "shape", "size"))
        for one in made
    )


def causal_by(prediction: Value) -> Op | None:
    """What keeps a model from seeing what comes after each position: its mask, or a recurrent layer of one direction."""
    for one in made_of(prediction, lambda op: False):
        if not isinstance(one, Op):
            continue
        if one.name in ("tril", "triu") or one.name.endswith("generate_square_subsequent_mask"):
            return one
        if constant(one.options.get("is_causal")) is True or shifts_labels(one.name):
            return one
        if one.name in RECURRENT and one.owner is not None and not _is_bidirectional(one.owner):
            return one
    return None


def _is_bidirectional(layer: Object) -> bool:
    given = layer.options.get("bidirectional")
    return layer.is_open or not (given is None or constant(given) is False)


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
            if start is None or start[0]:
                return None
            number += start[1]
        elif value.name not in _SAME_PLACES and value.name != "output":
            break
        value = value.inputs[0]
    return Prediction(value, number) if value is not None else None
