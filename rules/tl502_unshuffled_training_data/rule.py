from collections.abc import Iterator

from trainlint.facts.ask.flow import is_made_of
from trainlint.facts.ask.holding import contains
from trainlint.facts.ask.loaders import Use, in_evaluation, is_own_class, not_used, type_of, uses
from trainlint.facts.ask.stepped import modules_stepped
from trainlint.facts.model.events.batches import Drawn, ItemsMade
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.events.steps import OptimizerStep
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Constant, Object, Op, Value, alternatives
from trainlint.finding import Because, Finding, Open
from trainlint.rule import rule

from .drawn_once import drawn_once
from .first_batches import are_the_first
from .handed import handed_to_trainers
from .parts_in_order import whole_in_order
from .reading import (
    is_in_random_order,
    is_one_batch,
    is_uniform,
    keeps_windows_in_order,
    reads_in_order,
    reads_in_order_alone,
    reads_in_order_by_setting,
)
from .sorted_labels import are_by_class, holds_classes_in_order
from .swapped import said_of, shuffled_instead

_DATASET = "torch.utils.data.Dataset"
_ITERABLE = "torch.utils.data.IterableDataset"
_IN_FILES = ("torchvision.datasets.",)
_GENERATED = frozenset(("torchvision.datasets.FakeData",))


@rule(
    Training,
    level="warning",
    confidence="likely",
    explained_by=r"(?:\bno|\bnot|n't|without|never) shuff|\bin order\b|keep\w* (?:the )?order|order matters|sequential",
)
def check(training: Training) -> Iterator[Finding | Open]:
    asked = {one.loader.uid: one for one in training.events(ItemsMade)}
    yield from not_used(training)
    used = uses(training)
    alone = {one.loader.uid for one in used if reads_in_order_alone(one.loader)}
    shuffled = {
        (one.drawn.at, one.drawn.calls)
        for one in used
        if not reads_in_order(one.loader) and one.loader.uid not in alone
    }
    for use in used:
        loader = use.loader
        if not use.trains or is_one_batch(loader) or loader.at is None:
            continue
        if not reads_in_order(loader) and loader.uid not in alone:
            continue
        if (use.drawn.at, use.drawn.calls) in shuffled:
            continue  # another loader replaces it on some iterations
        if training.is_in_test(loader.at) or keeps_windows_in_order(training, loader):
            continue
        is_alone = not use.drawn.loops and not isinstance(
            training, Recorded
        )  # a run may end before the second
        if is_alone or are_the_first(training, use.drawn):
            continue  # no epochs, or always the same few batches
        made = asked.get(loader.uid)
        dataset = _datasets(loader)
        swapped: Object | None = None
        if (
            (made is None or made.by_index)
            and dataset
            and (_have_an_order(training, dataset, loader, made) or (swapped := shuffled_instead(use, used)))
        ):
            if _is_validation(training, use.drawn):
                yield Finding(
                    loader.at,
                    "The model is trained on this loader in evaluation mode: a validation loop that trains. For "
                    "validation, leave out `backward()` and `step()`; for training, call `train()` and pass "
                    "`shuffle=True`.",
                    (Because(use.drawn.at, "its batches are drawn here"),),
                )
                continue
            if loader.uid in alone:
                yield _without_sampler(use)
                continue
            yield Finding(
                loader.at,
                "The model is trained on this loader, which does not shuffle: every epoch has the same "
                "batches in stored order. If the data is sorted, by class for example, the model is trained "
                "on one class after the other. Pass `shuffle=True`.",
                (
                    Because(use.drawn.at, "the training batches are drawn here"),
                    *said_of(swapped),
                ),
            )
    yield from _handed(training, asked)
    for loader, name, order in drawn_once(training):
        if loader.at is not None:
            yield Finding(
                loader.at,
                f"The sampler of this loader draws `self.{name}` when it is made, and never again: every epoch has the same batches "
                "in the same order. Draw it in `__iter__`.",
                (Because(order.at, "drawn once, here"),)
                if isinstance(order, Op) and order.at is not None
                else (),
                confidence="likely",
                doubt="the same order in each epoch may be meant",
                is_shown_by_runs=False,
            )


def _datasets(loader: Object) -> list[Value]:
    """What a loader may read: not None, which it would not take."""
    return [
        one
        for one in alternatives(loader.argument(0, "dataset"))
        if not (isinstance(one, Constant) and one.value is None)
    ]


def _without_sampler(use: Use) -> Finding:
    """A loader that only shuffles by the sampler that it gets where there are several processes."""
    return Finding(
        use.loader.at or use.drawn.at,
        "The model is trained on this loader, which does not shuffle where its sampler is None, as in a single process: "
        "every epoch has the same batches in stored order. Pass `shuffle=sampler is None`.",
        (Because(use.drawn.at, "the training batches are drawn here"),),
        clues={"alone": True},
        is_shown_by_runs=False,
    )


def _handed(training: Training, asked: dict[int, ItemsMade]) -> Iterator[Finding]:
    """Training loaders that are made for callers who are not in sight."""
    for loader in handed_to_trainers(training):
        made = asked.get(loader.uid)
        dataset = _datasets(loader)
        is_stored = bool(dataset) and _have_an_order(training, dataset, loader, made)
        if loader.at is not None and reads_in_order_by_setting(loader):
            yield Finding(
                loader.at,
                f"By its name, `{loader.called}` is for training, and where a setting gives it no sampler, it does not shuffle: "
                "every epoch has the same batches in stored order. Pass `shuffle=sampler is None`.",
                confidence="likely",
                doubt="what trains on it is not in sight",
                clues={"alone": True},
            )
        elif loader.at is not None and is_stored and (made is None or made.by_index):
            yield Finding(
                loader.at,
                f"By its name, `{loader.called}` is for training, and it does not shuffle: every epoch has the same batches "
                "in stored order. If the data is sorted, by class for example, the model is trained on one class after the "
                "other. Pass `shuffle=True`.",
                confidence="likely",
                doubt="what trains on it is not in sight",
            )


def _is_validation(training: Training, drawn: Drawn) -> bool:
    """Whether every model that is given the batches is in evaluation mode, one that an optimizer steps among them."""
    given = [
        one
        for one in training.events(Forward)
        if one.loops[: len(drawn.loops)] == drawn.loops
        and any(is_made_of(value, drawn.batch) for value in one.inputs)
    ]
    stepped = {
        one.uid
        for step in training.events(OptimizerStep)
        for held in modules_stepped(training, step.optimizer)
        for one in alternatives(held)
    }
    return any(_is_stepped(one.module, stepped) for one in given) and all(
        in_evaluation(training, one) for one in given
    )


def _is_stepped(module: Value, stepped: set[int]) -> bool:
    return module.uid in stepped or contains(module, stepped)


def _have_an_order(training: Training, every: list[Value], loader: Object, made: ItemsMade | None) -> bool:
    """Whether all datasets of which a setting chooses one hold items that have an order; of a class of the program's own without
    a base, it is enough that another one does."""
    without = [one for one in every if not _has_an_order(training, one, loader, made)]
    return len(without) < len(every) and all(_may_have_an_order(training, one) for one in without)


def _may_have_an_order(training: Training, dataset: Value) -> bool:
    """Whether a dataset is of a class of the program's own, with nothing random in it."""
    is_own = isinstance(dataset, Object) and dataset.definition is not None and not dataset.bases
    return is_own and not is_in_random_order(training, dataset)


def _has_an_order(training: Training, dataset: Value, loader: Object, made: ItemsMade | None) -> bool:
    """Whether a dataset, or the one of which it is a part in the same order, certainly holds items that have one."""
    whole = whole_in_order(dataset)
    if whole is None:
        return _is_stored(training, dataset, loader, made)
    return not is_in_random_order(training, dataset) and all(
        _is_stored(training, one, loader, made) for one in alternatives(whole)
    )


def _is_stored(training: Training, dataset: Value, loader: Object, made: ItemsMade | None) -> bool:
    """Whether a dataset certainly holds stored items that are read by index, and no random numbers, or none beside labels
    that are laid out class by class."""
    if isinstance(dataset, Object) and dataset.is_a(_ITERABLE):
        return False
    name = type_of(dataset)
    known = name.startswith(_IN_FILES) or name == "torch.utils.data.TensorDataset"
    is_own = isinstance(dataset, Object) and dataset.definition is not None and made is not None
    if not known and not is_own and not is_own_class(dataset, _DATASET):
        return False
    if name in _GENERATED or is_uniform(dataset):
        return False
    return (
        are_by_class(training, loader)
        or holds_classes_in_order(dataset)
        or not is_in_random_order(training, dataset)
    )
