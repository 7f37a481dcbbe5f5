"""Data that is split at random twice: each time other samples are held out, and one model meets parts of both."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.guards import ask_if_missing
from trainlint.facts.ask.loaders import learned_from, samplers, watched_from
from trainlint.facts.ask.sequences import batches
from trainlint.facts.model.events.calls import Called
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Constant, Object, Op, Value

from .alike import is_same
from .both import pairs
from .splits import cut_at

SPLITS = ("torch.utils.data.random_split", "sklearn.model_selection.train_test_split")
_ORDERS = ("randperm", "numpy.random.permutation")
_CALLED = ("torch.randperm", "numpy.random.permutation")
_MOST = 5_000


class _Part(NamedTuple):
    """A part of some data that is drawn at random.

    Args:
        drawn: what draws: a split, or an order of which a slice is taken.
        data: the data, or where each part is of a new copy, the call that creates it.
        cut: the slice of the order, where there is one.
    """

    drawn: Op
    data: Value
    cut: Op | None = None


def split_twice(training: Training) -> Iterator[tuple[Op, Op]]:
    """The split or order whose part is held out, with the other one whose part is trained on. One of which another part is
    trained on belongs to another experiment."""
    drawn = [one for one in training.events(Called) if one.name in SPLITS or one.name in _CALLED]
    if len(drawn) < 2:
        return
    learned, held_out = _sides(training)
    taught = {one.drawn.uid for one in learned}
    for one in held_out:
        for other in learned:
            is_apart = one.drawn.uid not in taught and _overlap(one, other)
            if is_apart and not _may_be_repeated(training, one.drawn, other.drawn):
                yield one.drawn, other.drawn
                return


def _sides(training: Training) -> tuple[list[_Part], list[_Part]]:
    """What is trained on, and what is held out: by loaders, or without any."""
    known = batches(training)
    both = list(pairs(training))
    sides = []
    for values, side in ((learned_from(training), 0), (watched_from(training), 1)):
        loaders = list({one[side].uid: one[side] for one in both}.values())
        given = [part for one in loaders for part in (*_given(one), known.get(one.uid)) if part is not None]
        every = {one.uid: one for one in (*values, *reached(given, _made_of, _MOST))}
        sides.append([*_parts(every.values()), *(part for one in loaders for part in _sampled(one))])
    return sides[0], sides[1]


def _given(loader: Object) -> list[Value]:
    dataset = loader.argument(0, "dataset")
    return [] if dataset is None else [dataset]


def _made_of(value: Value) -> Iterable[Value]:
    return (*value.args, *value.options.values()) if isinstance(value, Object) else value.parts()


def _sampled(loader: Object) -> Iterator[_Part]:
    """`DataLoader(data, sampler=SubsetRandomSampler(order[:n]))`."""
    for data in _given(loader):
        for sampler in samplers(loader):
            yield from _ordered(data, sampler.argument(0, "indices"))


def _parts(values: Iterable[Value]) -> Iterator[_Part]:
    for one in values:
        match one:
            case Op(name="torch.utils.data.Subset"):
                yield from _ordered(one.option(0, "dataset"), one.option(1, "indices"))
            case Op(name="getitem", inputs=(Op() as drawn, *_)) if drawn.name in SPLITS and drawn.inputs:
                yield _Part(drawn, drawn.inputs[0])
            case Op(name="getitem", inputs=(data, *_)):
                yield from _ordered(data, one.option(1, "index"))


def _ordered(data: Value | None, index: Value | None) -> Iterator[_Part]:
    """A part of some data, by a slice of a random order: `order[:n]`, or that as a list."""
    while (
        isinstance(index, Op) and index.name in ("tolist", "numpy", "list", "builtins.list") and index.inputs
    ):
        index = index.inputs[0]
    if data is None or not isinstance(index, Op) or index.name != "getitem" or cut_at(index) is None:
        return
    drawn = index.inputs[0]
    while isinstance(drawn, Op) and drawn.name in ("tolist", "numpy") and drawn.inputs:
        drawn = drawn.inputs[0]
    if isinstance(drawn, Op) and drawn.name in _ORDERS:
        yield _Part(drawn, data, index)


def _overlap(one: _Part, other: _Part) -> bool:
    """Whether both are of the same data, and of slices of an order, one begins where the other ends."""
    if not is_same(one.data, other.data):
        return False
    first, second = (cut_at(part.cut) if part.cut is not None else None for part in (one, other))
    if first is None or second is None:
        return one.cut is other.cut
    return is_same(first[1], second[0]) or is_same(second[1], first[0])


def _may_be_repeated(training: Training, one: Op, other: Op) -> bool:
    """Whether both may draw the same: they are told how, a seed is set in between, or it is drawn once, where there is no
    split yet."""
    told = ("generator", "random_state")
    if any(not _is_none(drawn.options.get(name)) for drawn in (one, other) for name in told):
        return True
    calls = training.events(Called)
    places = [number for number, call in enumerate(calls) if call.at in (one.at, other.at)]
    if any(ask_if_missing(calls[number].guards) for number in places):
        return True
    between = calls[places[0] : places[-1]] if places else ()
    return any("seed" in call.name.lower() for call in between)


def _is_none(value: Value | None) -> bool:
    return value is None or (isinstance(value, Constant) and value.value is None)
