"""Which transforms are random."""

from __future__ import annotations

from trainlint.facts.ask.asking import question
from trainlint.facts.model.values import Choice, Items, Op, Value, alternatives, constant

_LIBRARIES = (
    "torchvision.transforms.",
    "torchaudio.transforms.",
    "albumentations.",
    "monai.transforms.",
    "torchio.",
)
_AUGMENT = frozenset(("ColorJitter", "AutoAugment", "RandAugment", "TrivialAugmentWide", "AugMix"))
_OF_SOUND = frozenset(("FrequencyMasking", "TimeMasking", "SpecAugment"))
_OF_ALBUMENTATIONS = frozenset(
    "HorizontalFlip VerticalFlip Flip Transpose D4 Rotate SafeRotate ShiftScaleRotate Affine Perspective ElasticTransform "
    "GridDistortion OpticalDistortion HueSaturationValue RGBShift GaussNoise ISONoise MultiplicativeNoise CoarseDropout "
    "Cutout GridDropout ChannelShuffle".split()
)
_LISTS = ("Compose", "Sequential", "OneOf", "SomeOf")
_FIXED = frozenset(("RandomOrder",))
_ALL_OR_NOTHING = {
    **dict.fromkeys(
        "HorizontalFlip VerticalFlip Transpose Grayscale Invert Autocontrast Equalize".split(), 0
    ),
    **dict.fromkeys("Posterize Solarize AdjustSharpness".split(), 1),
}
"""Transforms of which only the probability is random, without `Random`, and its position."""
_STRENGTHS = ("brightness", "contrast", "saturation", "hue")


def _may_be_certain(transform: Op, name: str) -> bool:
    """Whether the probability of a transform may be 0, as in `p=0.5 if args.flip else 0`, or 1 where that is all that
    is random of it."""
    kind = name.removeprefix("Random")
    position = 0 if kind == "Erasing" else _ALL_OR_NOTHING.get(kind, len(transform.inputs))
    told = transform.option(position, "p") or transform.options.get("prob")
    chances = [constant(one) for one in alternatives(told)]
    return not all(chances) or (kind in _ALL_OR_NOTHING and 1 in chances)


def _has_no_range(transform: Op, name: str) -> bool:
    """Whether what is drawn comes from a range of one number: a rotation turns each image by one angle, and a jitter of
    colours that is given no strength changes nothing."""
    if transform.name.startswith("torchvision.") and name == "ColorJitter":
        return all(
            given is None or constant(given) == 0
            for given in (transform.option(place, word) for place, word in enumerate(_STRENGTHS))
        )
    match transform.option(0, "degrees"):
        case Items(items=[low, high]) if name == "RandomRotation":
            return low is high or (constant(low) is not None and constant(low) == constant(high))
    return False


def is_transform(value: Value) -> bool:
    """Whether a value is a transform of these libraries, whichever of several it is."""
    return all(isinstance(one, Op) and one.name.startswith(_LIBRARIES) for one in alternatives(value))


def _draws(transform: Op, name: str) -> bool:
    if transform.name.startswith("albumentations."):
        return name in _AUGMENT | _OF_ALBUMENTATIONS or name.startswith("Random")
    if transform.name.startswith("torchaudio."):
        return name in _OF_SOUND
    if transform.name.startswith("monai."):
        return name.startswith("Rand")
    return name in _AUGMENT or (name.startswith("Random") and name not in _FIXED)


@question(start=None, unknown=None)
def random_in(transform: Value) -> Op | None:
    """The first random transform, through `Compose`; of several that it may be, of which all are random, that of the first."""
    if isinstance(transform, Choice):
        each = [random_in(one) for one in alternatives(transform)]
        return each[0] if each and None not in each else None
    if not isinstance(transform, Op) or not is_transform(transform):
        return None
    name = transform.name.rpartition(".")[2]
    if _draws(transform, name):
        return None if _may_be_certain(transform, name) or _has_no_range(transform, name) else transform
    is_list = name in _LISTS and transform.inputs and not _may_be_certain(transform, name)
    steps = transform.inputs[0] if is_list else None
    if isinstance(steps, Items):
        certain = steps.items if steps.exact else steps.items[: steps.first]
        found = (random_in(one) for one in certain)
        return next((one for one in found if one is not None), None)
    return None
