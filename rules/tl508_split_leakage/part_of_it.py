"""Data that is held out by its loader, and is a part of all that another loader trains on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from trainlint.facts.ask.loaders import is_built_openly, purpose_of
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, Op, Value, alternatives

from .alike import is_same
from .both import pairs, reads_all

_LISTED = frozenset(("tolist", "numpy", "list", "builtins.list", "tuple", "builtins.tuple"))


class _Read(NamedTuple):
    """What a loader reads: all of some data, or the samples of it that these indices name, or some part of it."""

    data: Value
    indices: Value | None = None
    is_part: bool = False


def part_of_it(training: Training) -> Iterator[tuple[Object, Object]]:
    """Loaders that evaluate on samples that are trained on, each with the loader that trains. Where another loader trains on a
    part of the same data, that is the experiment, and the whole is for something else, such as a last training on all."""
    found = list(pairs(training))
    taught = [_read(one) for one in {one.uid: one for one, _ in found}.values()]
    for learned, held_out in found:
        whole, part = _read(learned), _read(held_out)
        if whole is None or part is None or not part.is_part or purpose_of(held_out.called) == "train":
            continue
        if not is_same(whole.data, part.data) or not _is_all(whole, part):
            continue
        if any(one is not None and one.is_part and not _is_all(one, part) for one in taught):
            continue
        if purpose_of(held_out.called) == "evaluate" or not _others_hold_out(found, whole):
            yield held_out, learned


def _others_hold_out(found: list[tuple[Object, Object]], whole: _Read) -> bool:
    """Whether another loader evaluates on other data: what is not called so may then measure on training data on purpose."""
    others = (_read(one) for _, one in found)
    return any(one is None or not is_same(whole.data, one.data) for one in others)


def _is_all(whole: _Read, part: _Read) -> bool:
    """Whether what is trained on are all samples, or all of those that the others are taken of."""
    if not whole.is_part:
        return True
    if whole.indices is None or part.indices is None:
        return False
    taken = _listed(part.indices)
    if not isinstance(taken, Op) or taken.name != "getitem":
        return False
    return _listed(taken.inputs[0]) is _listed(whole.indices)


def _read(loader: Object) -> _Read | None:
    data = loader.argument(0, "dataset")
    if data is None or not is_built_openly(loader) or len(list(alternatives(data))) != 1:
        return None
    if not reads_all(loader):
        return None
    match data:
        case Op(name="torch.utils.data.Subset"):
            within, indices = data.option(0, "dataset"), data.option(1, "indices")
            return _Read(within, indices, is_part=True) if within is not None else None
        case Op(name="getitem", inputs=(Op(name="torch.utils.data.random_split") as split, *_)) if (
            split.inputs
        ):
            return _Read(split.inputs[0], is_part=True)
    return _Read(data)


def _listed(value: Value | None) -> Value | None:
    while isinstance(value, Op) and value.name in _LISTED and value.inputs:
        value = value.inputs[0]
    return value
