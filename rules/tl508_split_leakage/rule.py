from collections.abc import Iterator

from trainlint.facts.model.events.calls import Called
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, Op, Value, alternatives
from trainlint.facts.seen.splits import ScaledTogether
from trainlint.finding import Because, Finding, Place
from trainlint.rule import rule

from .all_of_it import all_of_it
from .both import fitted_twice, measured_on_training_data, numbers_classes
from .folds import through_all_folds
from .last_batch import of_training, targets_of_training
from .oversampled import drawn_again
from .part_of_it import part_of_it
from .renamed_batch import trained_on_held_out
from .slices import by_slices
from .split_twice import SPLITS, split_twice
from .splits import features, scaled_by_itself


@rule(Training, level="error", confidence="likely", refutable=False, words="train_test_split")
def check(training: Training) -> Iterator[Finding]:
    calls = training.events(Called)
    told: set[int] = set()
    doubled: set[Place] = set()
    for data, split in (*_by_call(calls), *by_slices(training)):
        scaled = scaled_by_itself(data, calls, split)
        if scaled is not None and scaled.uid not in told and scaled.at is not None:
            told.add(scaled.uid)
            yield Finding(
                scaled.at,
                f"`{scaled.text or scaled.name}` normalises all samples with statistics of all samples, "
                "before the split: the held-out data leaks into the training data, so its score is too good. "
                "Split first, and compute the statistics on the training part only.",
                (Because(split, "the data is split here"),),
            )
        again = drawn_again(data)
        if again is not None and again.at is not None and split not in doubled:
            doubled.add(split)
            yield Finding(
                again.at,
                f"{f'`{again.text}`' if again.text else 'This'} puts copies of some samples into the data before the split: copies of "
                "one sample are trained on and held out, so the score is too good. Split first, and oversample the "
                "training part only.",
                (Because(split, "the data is split here"),),
                confidence="likely",
                doubt="the rows that are drawn may be something other than samples",
            )
    yield from _scaled_together(training)
    yield from _fitted_twice(training)
    yield from _split_twice(training)
    yield from _with_other_data(training)


def _scaled_together(training: Training) -> Iterator[Finding]:
    """What a run has found in the data themselves."""
    for seen in training.facts(ScaledTogether):
        yield Finding(
            seen.at,
            f"These features were scaled before the split: over the {seen.trained} samples that are trained on and "
            f"{seen.held} others together each has mean 0 and standard deviation 1, over those that are trained on it has "
            "not. What is held out leaks into the training data, so its score is too good. Compute the statistics on "
            "the training part only.",
            level="warning",
            evidence={
                "largest mean of a feature over all": seen.mean,
                "over the samples that are trained on": seen.mean_of_trained,
                "features": seen.features,
            },
        )


def _fitted_twice(training: Training) -> Iterator[Finding]:
    for held_out, learned in fitted_twice(training):
        if held_out.at is not None and learned.at is not None:
            harm = (
                "where a class is missing in one of them, the same number means another class"
                if numbers_classes(held_out)
                else "the same value means another number to the model"
            )
            yield Finding(
                held_out.at,
                f"`{held_out.text or held_out.name}` is fitted to the held-out data, and was fitted to the training data "
                f"apart: {harm}. Fit it to the training part, and only call `transform` on the other.",
                (Because(learned.at, "fitted to the training data here"),)
                if learned.at != held_out.at
                else (),
                level="warning",
                confidence="likely",
                doubt="both parts may hold the same classes, or be alike",
            )


def _split_twice(training: Training) -> Iterator[Finding]:
    for held_out, learned in split_twice(training):
        if held_out.at is not None and learned.at is not None:
            yield Finding(
                held_out.at,
                f"`{held_out.text or held_out.name}` draws the samples to hold out, and what is trained on is drawn anew: many "
                "of the held-out samples are trained on, so their score is too good. Split once and keep both parts, or give "
                "each split a generator with the same seed.",
                (Because(learned.at, "what is trained on is drawn here"),)
                if learned.at != held_out.at
                else (),
            )


def _with_other_data(training: Training) -> Iterator[Finding]:
    """An evaluation that is not of the data that it goes through."""
    for forward, batch in of_training(training):
        yield Finding(
            forward.at,
            "The model is given the last batch of the training loop here, again and again: no batch that this loop draws "
            "ever reaches it, so nothing is measured on held-out data. Pass it the loop's own batch.",
            (Because(batch.at, "this batch is trained on"),) if batch.at is not None else (),
        )
    for loss, batch in targets_of_training(training):
        yield Finding(
            loss.at,
            "What the model makes of this loop's batch is compared with the targets of the last batch of the training "
            "loop, so the loss says nothing. Pass it the loop's own targets.",
            (Because(batch.at, "this batch is trained on"),) if batch.at is not None else (),
        )
    for loop, backward in trained_on_held_out(training):
        yield Finding(
            loop.at,
            "This evaluation gives its batches the name of the batch that is trained on after it: whenever it has run, the "
            "model is trained on its last one, and the batch of the training loop is lost. Use another name here.",
            (Because(backward.at, "`backward()` starts here, from the last batch of this loop"),),
        )
    for loader, learned in measured_on_training_data(training):
        if loader.at is not None and learned.at is not None:
            yield Finding(
                loader.at,
                f"By its name, `{loader.called}` is for evaluation, but it reads the data that the model is trained on, so "
                "its score is too good. Give it the held-out data.",
                (Because(learned.at, "the loader of the training data"),),
                confidence="likely",
                doubt="what the loader is for is only known by its name",
            )
    for loader, learned in part_of_it(training):
        if loader.at is not None and learned.at is not None:
            yield Finding(
                loader.at,
                "These samples are held out, and the model is trained on all of the data that they are taken of, so its score "
                "on them is too good. Train on the other part only.",
                (Because(learned.at, "this loader trains on all of them"),),
            )
    for loader, learned in all_of_it(training):
        if loader.at is not None and learned.at is not None:
            yield Finding(
                loader.at,
                f"By its name, `{loader.called}` is for a test, but it reads all of the data, and the model is trained on a part "
                "of that, so its score is too good. Give it the samples that are held out.",
                (Because(learned.at, "this loader trains on a part of them"),),
                confidence="likely",
                doubt="what the loader is for is only known by its name",
            )
    for forward, model in through_all_folds(training):
        which = model.title if model is forward.module else f"A part of this model, {model.title},"
        yield Finding(
            forward.at,
            f"{which[0].upper()}{which[1:]} was made before the loop over the folds and is trained in each of them, so from the second fold on "
            "it has been trained on the samples that it is measured on here. Make a new model, and a new optimizer, in each fold.",
            (Because(model.at, "the only model is made here"),) if model.at is not None else (),
        )


def _by_call(calls: list[Called]) -> Iterator[tuple[Value, Place]]:
    for call in calls:
        if call.name in SPLITS:
            for held in call.args[:1]:  # to scale targets changes their unit alone
                yield from ((one, call.at) for one in _data(held))


def _data(value: Value) -> Iterator[Value]:
    """What a dataset of tensors holds, or one of the program's own is given, or the value itself."""
    for one in alternatives(value):
        if isinstance(one, Op) and one.name == "torch.utils.data.TensorDataset":
            yield from one.inputs
        elif isinstance(one, Object):
            yield from features(one)
        else:
            yield one
