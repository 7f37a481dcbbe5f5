"""Datasets of torchvision's whose transform follows the split that a function is told, and is random where that is not the one
for training: `build_transform(split == "train")`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainlint.facts.ask.asking import reached
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Choice, Guards, Op, ways

from .steps import is_transform, random_in

_TRAIN = ("train", "training")
_EVALUATE = ("val", "valid", "validation", "test", "eval")


def random_by_split(training: Training) -> Iterator[tuple[Op, Op]]:
    """Each random transform of a dataset that a function gives for another split than the one for training, which has one of
    its own, and the dataset."""
    if training.entry != "function":
        return
    for dataset in reached(one.value for one in training.handed_out()):
        if not isinstance(dataset, Op) or not dataset.name.startswith("torchvision.datasets."):
            continue
        chosen = dataset.options.get("transform")
        if not isinstance(chosen, Choice):
            continue
        each = list(ways(chosen))
        if any(_is_for_training(guards) and random_in(one) is not None for guards, one in each):
            for guards, one in each:
                step = random_in(one) if _is_for_evaluation(guards) and is_transform(one) else None
                if step is not None and step.at is not None:
                    yield step, dataset


def _is_for_training(guards: Guards) -> bool:
    return any(outcome and _split_in(condition) in _TRAIN for condition, outcome in guards)


def _is_for_evaluation(guards: Guards) -> bool:
    """Whether a split is not the one for training, and no other one that is not for evaluation."""
    told = [(_split_in(condition), outcome) for condition, outcome in guards]
    named = [split for split, outcome in told if split is not None and outcome]
    if named:
        return all(split in _EVALUATE for split in named)
    return any(split in _TRAIN for split, _ in told) and all(split is not None for split, _ in told)


def _split_in(condition: Any) -> str | None:
    """The name that a condition compares something with."""
    match condition:
        case ("==", _, ("constant", str(text))) | ("==", ("constant", str(text)), _):
            return text.strip("'")
    return None
