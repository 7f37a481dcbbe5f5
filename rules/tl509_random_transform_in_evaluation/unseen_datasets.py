"""Datasets that lie elsewhere: what they are given as `transform=` they apply to each sample, unless they are told the split."""

from __future__ import annotations

import re

from trainlint.facts.model.values import Constant, Op, Unknown, Value

_NAMED = ("transform", "transforms")
_SPLIT = re.compile(
    r"(^|[_.])(split|mode|phase|stage|subset|part|partition|fold|train|training|is_train|augment|aug|kind)$"
)
"""What is called so may say which part of the data a dataset is for."""


def transform_of_unseen(dataset: Op) -> Value | None:
    """What a dataset's class that is not in sight is given to apply; None where something else may tell it of a split: it may
    leave the transform out for some."""
    if not dataset.name.rpartition(".")[2][:1].isupper():
        return None
    given = [dataset.options[name] for name in _NAMED if name in dataset.options]
    others = [name for name in dataset.options if name not in _NAMED]
    if len(given) != 1 or any(map(_SPLIT.search, others)):
        return None
    told = (*dataset.inputs, *(dataset.options[name] for name in others))
    return given[0] if not any(map(_may_tell_split, told)) else None


def _may_tell_split(value: Value) -> bool:
    match value:
        case Constant(value=str(text)):
            return "/" not in text and "." not in text
        case Constant(value=told):
            return isinstance(told, bool)
        case Unknown(text=name) | Op(name="getattr", text=name):
            return _SPLIT.search(name) is not None
    return not isinstance(value, Op)
