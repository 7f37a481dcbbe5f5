from collections.abc import Iterator

from trainlint.facts.ask.loaders import type_of, uses, workers
from trainlint.facts.model.events.batches import ItemsMade
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, alternatives
from trainlint.finding import Because, Finding
from trainlint.rule import rule

_WORK = frozenset(
    "open imread imdecode read_image load tokenize encode encode_plus resize transform transforms augment "
    "augmentation read_csv waveform spectrogram fromarray randomcrop".split()
)
"""Names in a `__getitem__` that read or compute something for each item."""

_FROM_FILES = ("ImageFolder", "DatasetFolder", "CocoDetection", "VOCDetection", "VOCSegmentation", "ImageNet")


@rule(Training, level="info", refutable=False, by="S")
def check(training: Training) -> Iterator[Finding]:
    made = {one.loader.uid: one for one in training.events(ItemsMade)}
    for use in uses(training):
        loader = use.loader
        if not use.trains or loader.at is None or loader.argument(5, "num_workers") or workers(loader) != 0:
            continue
        items = made.get(loader.uid)
        works = sorted(_WORK & items.names) if items is not None else _reading(loader)
        if works:
            yield Finding(
                loader.at,
                f"`num_workers` is 0, so the main process prepares each item (`{works[0]}`) while the device "
                "waits. Pass `num_workers=2` or more, up to the number of CPU cores.",
                (Because(use.drawn.at, "training waits for the batches here"),),
            )


def _reading(loader: Object) -> list[str]:
    """The dataset of torchvision that reads and decodes a file for each item."""
    names = [type_of(one).rpartition(".")[2] for one in alternatives(loader.argument(0, "dataset"))]
    return [name for name in names if name in _FROM_FILES]
