from collections.abc import Iterator

from trainlint.facts.api.frameworks import GIVES_LOADER
from trainlint.facts.ask.asking import question
from trainlint.facts.ask.loaders import handed_out, purpose, uses
from trainlint.facts.model.events.calls import SettingChanged
from trainlint.facts.model.events.steps import Backward
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, Op, Value, alternatives
from trainlint.finding import Because, Finding
from trainlint.rule import rule

from .by_split import random_by_split
from .own_datasets import own_transform
from .own_flips import flipped_at_random
from .shared import PARTS, TRANSFORMS, set_for_all
from .steps import is_transform, random_in
from .unseen_datasets import transform_of_unseen

_DATASETS = (
    "torchvision.datasets.",
    "monai.data.",
    "torchio.SubjectsDataset",
    "torchio.data.SubjectsDataset",
)
"""Datasets that apply the transform that they are given to every item."""


@rule(
    Training,
    level="warning",
    confidence="likely",
    refutable=False,
    by="S",
    words="random_split RandomCrop RandomResizedCrop RandomHorizontalFlip ImageFolder CIFAR10 CIFAR100",
)
def check(training: Training) -> Iterator[Finding]:
    for change, harm in set_for_all(training):
        yield Finding(
            change.at,
            f"All parts of this split share one dataset, so this sets the transform of each of them: {harm}. Make a "
            "dataset for each part, and take `Subset(other, part.indices)` of it.",
            confidence="certain",
        )
    for step, dataset in random_by_split(training):
        if step.at is not None:
            yield Finding(
                step.at,
                f"`{step.name.rpartition('.')[2]}` changes samples at random, and this transform is for what is not trained on: "
                "the score differs between runs, and is usually too low. Use a deterministic transform for evaluation.",
                (Because(dataset.at, "the dataset of each split is made here"),)
                if dataset.at is not None
                else (),
            )
    if any(one.name in TRANSFORMS for one in training.events(SettingChanged)):
        return
    used = uses(training)
    kept_apart = any(use.measures and purpose(use.loader) == "evaluate" for use in used)
    for use in used:
        # a fit to what a model gives, or a score on what it trains on beside one on other data
        of_training = purpose(use.loader) == "train" and (kept_apart or not training.events(Backward))
        if use.measures and not of_training:
            place = Because(use.drawn.at, "the model is evaluated on these batches")
            yield from _of(training, use.loader, place)
    has_other = any(handed_out(training, "train")) and not any(use.trains for use in used)
    for loader in handed_out(training, "evaluate"):
        if loader.at is not None and (has_other or GIVES_LOADER.search(loader.called)):
            yield from _of(
                training,
                loader,
                Because(loader.at, f"by its name, `{loader.called or loader.reads}` is for evaluation"),
            )


def _of(training: Training, loader: Object, evaluated: Because) -> Iterator[Finding]:
    found = [_random_step(one, training, loader) for one in alternatives(loader.argument(0, "dataset"))]
    step = found[0] if found else None
    flip = flipped_at_random(training, loader) if None in found else None
    if flip is not None and flip.at is not None and loader.at is not None:
        yield Finding(
            loader.at,
            "The dataset flips samples of this loader at random, and it is used for evaluation: the score differs between runs. "
            "Make a dataset without augmentation for evaluation.",
            (Because(flip.at, "flipped where a random number says so"), evaluated),
        )
    if step is not None and step.at is not None and None not in found:
        name = step.name.rpartition(".")[2]
        yield Finding(
            step.at,
            f"`{name}` augments samples at random, and this dataset is used for evaluation: the score "
            "differs between runs, and is usually too low. Use a deterministic transform for evaluation.",
            (evaluated,),
        )


@question(start=None, unknown=None)
def _random_step(dataset: Value, training: Training, loader: Object) -> Op | None:
    """A random transform that is certainly applied to every item of a dataset that a loader reads."""
    if isinstance(dataset, Object) and dataset.definition is not None:
        transform = own_transform(training, loader, dataset)
        return random_in(transform) if transform is not None else None
    if not isinstance(dataset, Op):
        return None
    if dataset.name.startswith(_DATASETS):
        transforms = [
            one
            for one in (*dataset.inputs[1:], dataset.options.get("transform"))
            if one is not None and is_transform(one)
        ]
        return random_in(transforms[0]) if len(transforms) == 1 else None
    unseen = transform_of_unseen(dataset)
    if unseen is not None and is_transform(unseen):
        return random_in(unseen)
    if (dataset.name in PARTS or dataset.name == "getitem") and dataset.inputs:
        inner = list(alternatives(dataset.inputs[0]))
        return _random_step(inner[0], training, loader) if len(inner) == 1 else None
    return None
