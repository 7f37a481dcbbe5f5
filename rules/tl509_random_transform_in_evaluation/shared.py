"""A transform that is set on one part of a split, and that all parts share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trainlint.facts.ask.asking import reached
from trainlint.facts.model.events.batches import Drawn
from trainlint.facts.model.events.calls import SettingChanged
from trainlint.facts.model.events.event import Event, Returned
from trainlint.facts.model.events.modules import Built
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Constant, Object, Op, Value, alternatives, constant

from .steps import random_in

PARTS = ("torch.utils.data.random_split", "torch.utils.data.Subset")
TRANSFORMS = ("transform", "transforms")

_OF_PAIRS = frozenset(
    f"torchvision.datasets.{name}"
    for name in "Cityscapes CocoCaptions CocoDetection Kitti OxfordIIITPet Places365 SBDataset VOCDetection VOCSegmentation".split()
)
"""Datasets that transform an image and its target together."""


def set_for_all(training: Training) -> Iterator[tuple[SettingChanged, str]]:
    """Where a transform is set through a part of a dataset that another part shares, and how that shows; not where
    it is set again and again, between batches."""
    changes: dict[int, list[tuple[SettingChanged, Value]]] = {}
    is_drawn = False
    for one in training.events(Event):
        is_drawn = is_drawn or isinstance(one, Drawn)
        if isinstance(one, SettingChanged) and one.name in TRANSFORMS:
            part = _part(one.target)
            whole = _whole(part) if part is not None else None
            if is_drawn or one.loops:
                return
            if part is not None and whole is not None and not _has_no_effect(one, whole):
                changes.setdefault(whole.uid, []).append((one, part))
    if not changes:
        return
    parts = [*_in_use(training), *(part for several in changes.values() for _, part in several)]
    for several in changes.values():
        last, part = several[-1]
        whole = _whole(part)
        is_shared = any(_whole(one) is whole and one is not part for one in parts)
        harm = _harm(several, whole) if whole is not None and is_shared else None
        if harm is not None:
            yield last, harm


def _has_no_effect(change: SettingChanged, whole: Value) -> bool:
    """Whether a dataset does not look at what is set: it applies `transforms`, which it has made of the transform that it was
    given."""
    return change.name == "transform" and isinstance(whole, Op) and whole.name in _OF_PAIRS


def _harm(changes: list[tuple[SettingChanged, Value]], whole: Value) -> str | None:
    last, part = changes[-1]
    for before, other in changes[:-1]:
        if other is not part and _differ(before.value, last.value):
            return "the transform that was set before is lost"
    first = _given(whole)
    if first is not None:
        return "the transform that the dataset was made with is lost" if _differ(first, last.value) else None
    return (
        "they all are augmented at random, in evaluation too" if random_in(last.value) is not None else None
    )


def _in_use(training: Training) -> Iterator[Value]:
    """All that loaders read from, that the program returns, or that its objects hold."""
    held: list[Value] = [one.value for one in training.events(Returned)]
    held += (value for one in training.events(Built) for value in one.object.args[:1])
    held += (value for one in training.events(Built) for value in one.object.options.values())
    held += (value for one in training.objects for value in one.attributes.values())
    yield from (one for one in reached(held, _into) if _whole(one) is not None)


def _into(value: Value) -> Iterable[Value]:
    if isinstance(value, Object):
        return (*value.args, *value.options.values())
    return () if _whole(value) is not None else value.parts()


def _part(target: Value) -> Value | None:
    """The part through whose `dataset` something is set."""
    if (
        isinstance(target, Op)
        and target.name == "getattr"
        and constant(target.options.get("name")) == "dataset"
    ):
        return target.inputs[0]
    return None


def _whole(part: Value) -> Value | None:
    """What a part is one of, where that is clear."""
    if not isinstance(part, Op) or not part.inputs:
        return None
    split = part.inputs[0] if part.name == "getitem" else part
    if isinstance(split, Op) and split.name in PARTS and split.inputs:
        found = list(alternatives(split.inputs[0]))
        return found[0] if len(found) == 1 else None
    return None


def _given(dataset: Value) -> Value | None:
    """The transform that a dataset is made with, if one is."""
    match dataset:
        case Op(options=given) | Object(attributes=given):
            found = next((given[name] for name in TRANSFORMS if name in given), None)
            return None if isinstance(found, Constant) else found
    return None


def _differ(one: Value, other: Value) -> bool:
    """Whether two transforms are made at different places: then one of them is meant for one part alone."""
    first, second = list(alternatives(one)), list(alternatives(other))
    return all(
        a.uid != b.uid and not (isinstance(b, Constant) and b.value is None) for a in first for b in second
    )
