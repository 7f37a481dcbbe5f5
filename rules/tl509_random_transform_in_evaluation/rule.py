from collections.abc import Iterator

from trainlint.facts.ask.asking import question
from trainlint.facts.ask.loaders import uses
from trainlint.facts.model.events.calls import SettingChanged
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Constant, Items, Object, Op, Value, alternatives, constant
from trainlint.finding import Because, Finding
from trainlint.rule import rule

_AUGMENT = frozenset(("ColorJitter", "AutoAugment", "RandAugment", "TrivialAugmentWide", "AugMix"))
_FIXED = frozenset(("RandomOrder",))
_ALL_OR_NOTHING = {
    **dict.fromkeys("HorizontalFlip VerticalFlip Grayscale Invert Autocontrast Equalize".split(), 0),
    **dict.fromkeys("Posterize Solarize AdjustSharpness".split(), 1),
}
"""Transforms of which only the probability is random, without `Random`, and its position."""
_SPLITS = ("torch.utils.data.random_split", "torch.utils.data.Subset")
_OFF = ("val", "valid", "validation", "test", "eval", "dev")


@rule(Training, level="warning", confidence="likely", refutable=False, by="S")
def check(training: Training) -> Iterator[Finding]:
    if any(one.name in ("transform", "transforms") for one in training.events(SettingChanged)):
        return
    for use in uses(training):
        if not use.measures:
            continue
        found = [_random_step(one) for one in alternatives(use.loader.argument(0, "dataset"))]
        step = found[0] if found else None
        if step is not None and step.at is not None and None not in found:
            name = step.name.rpartition(".")[2]
            yield Finding(
                step.at,
                f"`{name}` augments samples at random, and this dataset is used for evaluation: the score "
                "differs between runs, and is usually too low. Use a deterministic transform for evaluation.",
                (Because(use.drawn.at, "the model is evaluated on these batches"),),
            )


@question(start=None, unknown=None)
def _random_step(dataset: Value) -> Op | None:
    """A random transform that is certainly applied to every item of a dataset."""
    if isinstance(dataset, Object) and dataset.definition is not None:
        given = (*dataset.args, *dataset.options.values())
        if any(isinstance(one, Constant) and (one.value is False or one.value in _OFF) for one in given):
            return None
        transforms = [one for one in given if isinstance(one, Op) and _is_transform(one)]
        return _random_in(transforms[0]) if len(transforms) == 1 else None
    if not isinstance(dataset, Op):
        return None
    if dataset.name.startswith("torchvision.datasets."):
        transforms = [
            one
            for one in (*dataset.inputs[1:], dataset.options.get("transform"))
            if isinstance(one, Op) and _is_transform(one)
        ]
        return _random_in(transforms[0]) if len(transforms) == 1 else None
    if (dataset.name in _SPLITS or dataset.name == "getitem") and dataset.inputs:
        inner = list(alternatives(dataset.inputs[0]))
        return _random_step(inner[0]) if len(inner) == 1 else None
    return None


def _may_be_certain(transform: Op, name: str) -> bool:
    """Whether the probability of a transform may be 0, as in `p=0.5 if args.flip else 0`, or 1 where that is all that
    is random of it."""
    kind = name.removeprefix("Random")
    position = 0 if kind == "Erasing" else _ALL_OR_NOTHING.get(kind, len(transform.inputs))
    chances = [constant(one) for one in alternatives(transform.option(position, "p"))]
    return not all(chances) or (kind in _ALL_OR_NOTHING and 1 in chances)


def _is_transform(value: Op) -> bool:
    return value.name.startswith("torchvision.transforms.")


@question(start=None, unknown=None)
def _random_in(transform: Op) -> Op | None:
    """The first random transform, through `Compose`."""
    name = transform.name.rpartition(".")[2]
    if name in _AUGMENT or (name.startswith("Random") and name not in _FIXED):
        return None if _may_be_certain(transform, name) else transform
    steps = transform.inputs[0] if name == "Compose" and transform.inputs else None
    if isinstance(steps, Items) and steps.exact:
        found = (_random_in(one) for one in steps.items if isinstance(one, Op) and _is_transform(one))
        return next((one for one in found if one is not None), None)
    return None
