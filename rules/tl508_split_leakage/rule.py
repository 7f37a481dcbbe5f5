from collections.abc import Iterator

from trainlint.facts.ask.loaders import learned_from, watched_from
from trainlint.facts.model.events.calls import Called
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, Op, Value, alternatives
from trainlint.finding import Because, Finding, Place
from trainlint.rule import rule

from .splits import are_halves, cut_at, scaled_by_itself

_SPLITS = ("torch.utils.data.random_split", "sklearn.model_selection.train_test_split")


@rule(Training, level="error", refutable=False)
def check(training: Training) -> Iterator[Finding]:
    calls = training.events(Called)
    told: set[int] = set()
    for scaled, split in (*_by_call(calls), *_by_slices(training, calls)):
        if scaled.uid not in told and scaled.at is not None:
            told.add(scaled.uid)
            yield Finding(
                scaled.at,
                f"`{scaled.text or scaled.name}` normalises all samples with statistics of all samples, "
                "before the split: the held-out data leaks into the training data, so its score is too good. "
                "Split first, and compute the statistics on the training part only.",
                (Because(split, "the data is split here"),),
            )


def _by_call(calls: list[Called]) -> Iterator[tuple[Op, Place]]:
    for call in calls:
        if call.name in _SPLITS:
            given = call.args[:1] if call.name.endswith("random_split") else call.args
            for value in (one for held in given for one in _data(held)):
                scaled = scaled_by_itself(value, calls)
                if scaled is not None:
                    yield scaled, call.at


def _data(value: Value) -> Iterator[Value]:
    """What a dataset of tensors holds, or the value itself."""
    for one in alternatives(value):
        if isinstance(one, Op) and one.name == "torch.utils.data.TensorDataset":
            yield from one.inputs
        elif not isinstance(one, Object):
            yield one


def _by_slices(training: Training, calls: list[Called]) -> Iterator[tuple[Op, Place]]:
    """One part of a tensor is trained on, the other is held out."""
    learned = [one for one in learned_from(training) if isinstance(one, Op) and cut_at(one) is not None]
    if not learned:
        return
    taught = {one.uid for one in learned}
    for held_out in watched_from(training):
        if not isinstance(held_out, Op) or held_out.uid in taught or cut_at(held_out) is None:
            continue
        other = next((one for one in learned if are_halves(one, held_out)), None)
        if other is not None and held_out.at is not None:
            scaled = scaled_by_itself(held_out.inputs[0], calls)
            if scaled is not None:
                yield scaled, held_out.at
