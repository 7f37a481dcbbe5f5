"""In which order a loader reads its dataset, and whether that order can matter."""

from __future__ import annotations

from collections.abc import Iterable

from trainlint.facts.api.classes import LOADER
from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.loaders import is_built_openly, type_of
from trainlint.facts.model.events.batches import Batched
from trainlint.facts.model.events.calls import Called
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Constant, Items, Object, Op, Table, Value, alternatives, constant

_RANDOM = frozenset("rand randn randint randperm rand_like randn_like normal FakeData".split())


_ALIKE = frozenset("ones zeros full ones_like zeros_like full_like".split())
_FOR_RANKS = ("torch.utils.data.DistributedSampler",)
_AT_RANDOM = tuple(f"torch.utils.data.{one}Sampler" for one in ("WeightedRandom", "Random", "SubsetRandom"))
_SHUFFLES = ("random.shuffle", "numpy.random.shuffle")
_PERMUTES = frozenset(("randperm", "permutation"))
_SHUFFLE_BY_DEFAULT = (
    "sklearn.datasets.make_",
    "sklearn.model_selection.train_test_split",
    "sklearn.utils.shuffle",
)


def reads_in_order(loader: Object) -> bool:
    """Whether a loader certainly goes through its dataset from the first item to the last, every time."""
    return is_built_openly(loader) and all(
        _is_absent(loader.argument(position, name), default)
        for position, name, default in (
            (2, "shuffle", False),
            (3, "sampler", None),
            (4, "batch_sampler", None),
        )
    )


def reads_in_order_alone(loader: Object) -> bool:
    """Whether a loader goes through its dataset in order where its process is the only one: its sampler is one for several
    processes, or else none, and nothing says that it shuffles then."""
    return _in_order_without(loader, _FOR_RANKS)


def reads_in_order_by_setting(loader: Object) -> bool:
    """Whether a setting gives a loader a sampler that draws at random, and without it, it goes through its dataset in order:
    where there may be a sampler, `shuffle=False` is no wish."""
    return _in_order_without(loader, _AT_RANDOM)


def _in_order_without(loader: Object, samplers: tuple[str, ...]) -> bool:
    """Whether a loader has one of some samplers, or else none, and nothing says that it shuffles then."""
    sampler = loader.argument(3, "sampler")
    found = list(alternatives(sampler)) if sampler is not None else []
    given = [one for one in found if isinstance(one, Object) and one.is_a(*samplers)]
    return (
        is_built_openly(loader)
        and 0 < len(given) < len(found)
        and all(one in given or (isinstance(one, Constant) and one.value is None) for one in found)
        and _is_absent(loader.argument(2, "shuffle"), False)
        and _is_absent(loader.argument(4, "batch_sampler"), None)
    )


def _is_absent(value: Value | None, default: object) -> bool:
    if value is None:
        return True
    found = list(alternatives(value))
    return all(
        isinstance(one, Constant) and not one.is_default and one.value in (None, default) for one in found
    )


def is_one_batch(loader: Object) -> bool:
    """Whether a loader hands out everything at once: its batches are as large as something is long."""
    size = loader.argument(1, "batch_size")
    while isinstance(size, Op) and size.name == "getitem":
        size = size.inputs[0]
    return isinstance(size, Op) and size.name.removeprefix("builtins.") in ("len", "shape", "size")


def draws_order(training: Training, value: Value) -> bool:
    """Whether a value is an order that has just been drawn: a permutation, or a list that has been shuffled."""
    shuffled = {one.args[0].uid for one in training.events(Called) if one.name in _SHUFFLES and one.args}
    return value.uid in shuffled or (isinstance(value, Op) and value.name.rpartition(".")[2] in _PERMUTES)


def is_in_random_order(training: Training, value: Value) -> bool:
    """Whether a value is, or holds, freshly drawn random numbers, or what has been shuffled."""
    shuffled = {one.args[0].uid for one in training.events(Called) if one.name in _SHUFFLES and one.args}
    return any(
        one.uid in shuffled
        or (isinstance(one, Op) and _draws(one))
        or (isinstance(one, Object) and _is_shuffling(one))
        for one in reached([value], _held, 500)
    )


def _is_shuffling(value: Object) -> bool:
    """Whether it is a loader that shuffles, of whose batches something has been stored."""
    return value.is_a(LOADER) and constant(value.argument(2, "shuffle")) is True


def _draws(op: Op) -> bool:
    last = op.name.rpartition(".")[2]
    if op.name.startswith(_SHUFFLE_BY_DEFAULT):
        return constant(op.options.get("shuffle")) is not False
    if op.text.startswith(".sample(") or op.text.endswith((".sample(…)", ".shuffle(…)")):
        return True
    return op.name in _RANDOM or last in _RANDOM or ".random." in op.name


def keeps_windows_in_order(training: Training, loader: Object) -> bool:
    """Whether a loader is told not to shuffle windows of a series, `series[i : i + length]`: their order is that of time,
    which a model may be meant to follow."""
    told = loader.argument(2, "shuffle")
    return told is not None and constant(told) is False and holds_windows(training, loader)


def holds_windows(training: Training, loader: Object) -> bool:
    """Whether the items of a loader are windows of a series."""
    batches = [one.batch for one in training.events(Batched) if one.loader is loader]
    dataset = [loader.args[0]] if loader.args else list(loader.options.values())
    return any(_is_window(one) for one in reached([*batches, *dataset], _held, 500))


def _is_window(value: Value) -> bool:
    index = value.options.get("index") if isinstance(value, Op) and value.name == "getitem" else None
    if isinstance(index, Items) and index.items:
        index = index.items[0]  # `series[i : i + length, columns]`
    if not (isinstance(index, Op) and index.name == "[:]" and len(index.inputs) > 1):
        return False
    start, end = index.inputs[:2]
    return isinstance(end, Op) and end.name == "+" and any(one is start for one in end.inputs)


def is_uniform(dataset: Value) -> bool:
    """Whether a dataset certainly holds one item many times, as tests are given."""
    if type_of(dataset) != "torch.utils.data.TensorDataset":
        return False
    tensors = dataset.args if isinstance(dataset, Object) else dataset.parts()
    return bool(tensors) and all(isinstance(one, Op) and one.name in _ALIKE for one in tensors)


def _held(value: Value) -> Iterable[Value]:
    if isinstance(value, Object):
        return (*value.args, *value.options.values(), *value.attributes.values())
    return value.parts() if isinstance(value, (Op, Items, Table)) else ()
