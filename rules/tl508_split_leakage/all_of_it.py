"""Data that is tested on by its loader's name, and of which another loader trains on a part."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainlint.facts.ask.loaders import is_built_openly
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, Op, Value

from .alike import is_same
from .both import pairs, reads_all

_TESTS = re.compile(r"test|(?<![a-z])val", re.IGNORECASE)
_SPLIT = "torch.utils.data.random_split"


def all_of_it(training: Training) -> Iterator[tuple[Object, Object]]:
    """Loaders that test on all of some data, each with one that trains on a part of it."""
    for learned, held_out in pairs(training):
        data, part = held_out.argument(0, "dataset"), learned.argument(0, "dataset")
        if data is None or part is None or not _TESTS.search(held_out.called) or not reads_all(held_out):
            continue
        if is_built_openly(learned) and any(is_same(one, data) for one in _taken_of(part)):
            yield held_out, learned


def _taken_of(data: Value) -> Iterator[Value]:
    """What some data is a part of, and what that is a part of in its turn."""
    while (whole := _whole(data)) is not None:
        yield whole
        data = whole


def _whole(part: Value) -> Value | None:
    match part:
        case Op(name="torch.utils.data.Subset"):
            return part.option(0, "dataset")
        case Op(name="getitem" | "iterate", inputs=(Op(name=split) as made, *_)) if (
            split == _SPLIT and made.inputs
        ):
            return made.inputs[0]
    return None
