from collections.abc import Iterator

from trainlint.facts.ask.loaders import is_own_class, type_of, uses
from trainlint.facts.model.events import ItemsMade
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, Value, alternatives
from trainlint.finding import Because, Finding
from trainlint.rule import rule

from .reading import is_one_batch, is_random, reads_in_order

_DATASET = "torch.utils.data.Dataset"
_ITERABLE = "torch.utils.data.IterableDataset"
_IN_FILES = ("torchvision.datasets.",)
_GENERATED = frozenset(("torchvision.datasets.FakeData",))


@rule(Training, level="warning")
def check(training: Training) -> Iterator[Finding]:
    asked = {one.loader.uid: one for one in training.events(ItemsMade)}
    used = uses(training)
    shuffled = {(one.drawn.at, one.drawn.calls) for one in used if not reads_in_order(one.loader)}
    for use in used:
        loader = use.loader
        if not use.trains or not reads_in_order(loader) or is_one_batch(loader) or loader.at is None:
            continue
        if (use.drawn.at, use.drawn.calls) in shuffled:
            continue  # another loader takes its place in some rounds
        made = asked.get(loader.uid)
        dataset = list(alternatives(loader.argument(0, "dataset")))
        if (made is None or made.by_index) and dataset and all(map(_has_an_order, dataset)):
            yield Finding(
                loader.at,
                "This loader trains the model, and hands out the samples in the order in which they are stored, the "
                "same batches every epoch. Where neighbours are alike, sorted by class for example, the model chases "
                "one kind after the other. Pass `shuffle=True`.",
                (Because(use.drawn.at, "the batches that train are drawn here"),),
            )


def _has_an_order(dataset: Value) -> bool:
    """Whether a dataset is certainly stored items that are picked by index, and not made of random numbers."""
    if isinstance(dataset, Object) and dataset.is_a(_ITERABLE):
        return False
    name = type_of(dataset)
    known = name.startswith(_IN_FILES) or name == "torch.utils.data.TensorDataset"
    if not known and not is_own_class(dataset, _DATASET):
        return False
    return name not in _GENERATED and not is_random(dataset)
