"""What a program makes of the data that it trains on, and again of the data that it holds out."""

from __future__ import annotations

from collections.abc import Iterator

from trainlint.facts.api.classes import LOADER
from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.loaders import Purpose, is_built_openly, purpose, purpose_of, uses
from trainlint.facts.ask.sequences import batches
from trainlint.facts.model.events.calls import Called
from trainlint.facts.model.events.event import Escape, Returned
from trainlint.facts.model.events.modules import Built
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import (
    Carried,
    Choice,
    Items,
    Object,
    Op,
    Table,
    Unknown,
    Value,
    alternatives,
    constant,
)

from .alike import is_same, last, names_a_part
from .no_other_data import validates_on_all
from .splits import SCALERS

_ENCODERS = frozenset(
    "LabelEncoder OrdinalEncoder LabelBinarizer MultiLabelBinarizer OneHotEncoder KBinsDiscretizer CountVectorizer".split()
)
_NUMBERS = frozenset(("factorize", "unique"))


def pairs(training: Training) -> Iterator[tuple[Object, Object]]:
    """The loaders that are trained on, each with the loaders that evaluate."""
    known = {one.loader.uid: one for one in uses(training)}
    loaders = [one.object for one in training.events(Built) if one.object.is_a(LOADER)]
    kinds: list[tuple[Object, Purpose | None]] = []
    for loader in loaders:
        use = known.get(loader.uid)
        if use is None:
            kinds.append((loader, purpose(loader) or _by_order(loader)))
        else:
            kinds.append((loader, "train" if use.trains else "evaluate" if use.evaluates else None))
    for loader, kind in kinds:
        if kind == "train":
            yield from ((loader, other) for other, what in kinds if what == "evaluate")


def _by_order(loader: Object) -> Purpose | None:
    """What a loader is for, where it is made by a helper for all: the one that trains shuffles."""
    if not is_built_openly(loader) or not {"sampler", "batch_sampler"}.isdisjoint(loader.options):
        return None
    shuffles = loader.argument(2, "shuffle")
    if shuffles is None or constant(shuffles) is False:
        return "evaluate"
    return "train" if constant(shuffles) is True else None


def fitted_twice(training: Training) -> Iterator[tuple[Op, Op]]:
    """What is fitted to the held-out data, where the same is fitted to the training data, both for the same part of a
    batch: the second with the first. What is fitted to the held-out data of one experiment may be fitted to the training
    data of the same one too, before the split."""
    known = batches(training)
    both = [
        (_fitted(one), _fitted(other))
        for learned, held_out in pairs(training)
        for one, other in _together(known.get(learned.uid), known.get(held_out.uid))
    ]
    taught = {first.uid for first, _ in both if first is not None}
    for first, second in both:
        if first is None or second is None or second.uid in taught or _kind(first) != _kind(second):
            continue
        if _all_rows(first) is not None and _all_rows(first) is not _all_rows(second):
            yield second, first


def _together(one: Value | None, other: Value | None) -> Iterator[tuple[Value, Value]]:
    """The parts of two batches that stand at the same place."""
    match one, other:
        case Items(items=first), Items(items=second) if len(first) == len(second):
            yield from zip(first, second, strict=True)
        case Table(entries=first), Table(entries=second):
            yield from ((first[key], second[key]) for key in first if key in second)
        case Value(), Value():
            yield one, other


def _fitted(value: Value) -> Op | None:
    """What numbers or scales a part of a batch by all the data that it is given."""
    found = [one for one in reached([value], _first, 100) if isinstance(one, Op) and _kind(one)]
    return found[0] if len(found) == 1 else None


def _first(value: Value) -> Iterator[Value]:
    if isinstance(value, Op) and not _kind(value):
        yield from value.inputs[:1]


def _kind(op: Op) -> str:
    """The class that is fitted; empty where nothing is."""
    if op.name == "fit_transform":
        made = {last(one) for one in alternatives(op.inputs[0]) if isinstance(one, Op)}
        name = made.pop() if len(made) == 1 else ""
        return name if name in _ENCODERS | SCALERS else ""
    if op.name == "pandas.factorize" or op.text.endswith(".factorize(…)"):
        return "factorize"
    is_numbered = op.name == "numpy.unique" and constant(op.options.get("return_inverse")) is True
    return "unique" if is_numbered else ""


def numbers_classes(op: Op) -> bool:
    """Whether what is fitted gives numbers to classes."""
    return _kind(op) in _ENCODERS | _NUMBERS


def _all_rows(op: Op) -> Value | None:
    """What it is fitted to; None where that is one sample, by its index."""
    position = 1 if op.name == "fit_transform" else 0
    given = op.inputs[position] if position < len(op.inputs) else None
    if given is None or any(
        isinstance(one, Unknown) and one.text == "index" for one in reached([given], most=100)
    ):
        return None
    return given


def measured_on_training_data(training: Training) -> Iterator[tuple[Object, Object]]:
    """Loaders that by their name evaluate, and read what the program calls training data, and trains on: each with the loader
    that trains."""
    for learned, held_out in pairs(training):
        if purpose_of(held_out.called) != "evaluate" or not reads_all(held_out) or not reads_all(learned):
            continue
        data, taught = held_out.argument(0, "dataset"), learned.argument(0, "dataset")
        if data is None or taught is None or isinstance(data, (Choice, Carried)):
            continue
        is_one = data is taught
        if not is_one and not (names_a_part(data) and is_same(data, taught)):
            continue
        if _measures_both(training, held_out, taught):
            continue
        is_said = purpose_of(held_out.reads) == "train" or _other_is_left(training, data)
        if not is_one or is_said or validates_on_all(training, held_out):
            yield held_out, learned


def _measures_both(training: Training, held_out: Object, taught: Value) -> bool:
    """Whether an `eval_loader` may be there to measure on the training data too, beside one of other data."""
    return "eval" in held_out.called.lower() and any(
        not is_same(one.argument(0, "dataset"), taught) for _, one in pairs(training)
    )


def reads_all(loader: Object) -> bool:
    """Whether a loader goes through its whole dataset: samplers may share it out."""
    return (
        is_built_openly(loader)
        and {"sampler", "batch_sampler"}.isdisjoint(loader.options)
        and len(loader.args) < 4
    )


def _other_is_left(training: Training, part: Value) -> bool:
    """Whether another part of the same split is not used for anything."""
    if not isinstance(part, Op) or part.name != "getitem" or not part.inputs:
        return False
    split = part.inputs[0]
    if not isinstance(split, Op) or split.name != "torch.utils.data.random_split":
        return False
    given: list[Value] = [one.value for one in training.events(Returned)]
    for one in training.objects:
        given += (*one.args, *one.options.values(), *one.attributes.values())
    for call in training.events(Called):
        given += call.args if not call.name.startswith("builtins.") else ()
    given += (value for one in training.events(Escape) for value in one.values)
    used = {one.uid for one in reached(given) if isinstance(one, Op) and one.inputs[:1] == (split,)}
    return used == {part.uid}
