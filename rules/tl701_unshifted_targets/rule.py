from collections.abc import Iterator

from trainlint.facts.ask.sequences import batches, lead, prediction, tokens
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.model.training import Training
from trainlint.facts.seen.targets import Aligned
from trainlint.finding import Because, Finding, Open
from trainlint.rule import rule

from .causality import causal_by
from .drawn_from import unshifted_call
from .trainers import unshifted

OVER_TOKENS = ("cross_entropy", "nll_loss")
ADVICE = (
    "the loss quickly falls to almost 0, because the model learns to copy its input instead of predicting "
    "the next token. Compare `logits[:, :-1]` with `ids[:, 1:]`."
)


@rule(Training, level="error")
def check(training: Training) -> Iterator[Finding | Open]:
    if isinstance(training, Recorded):
        yield from _seen(training)
    elif not training.is_test:  # which may give a model anything
        for loss in training.events(LossCall):
            if loss.function in OVER_TOKENS:
                yield from _read(training, loss)
                yield from _of_unseen(training, loss)
        for one in unshifted(training):
            yield Finding(
                one.loss.at,
                "The labels of a causal model are its input tokens, and nothing shifts them here: " + ADVICE,
                confidence="likely",
                doubt="the labels may be shifted where the data is made"
                if one.is_sure
                else "that the model is causal is only known by the trainer's name",
            )


def _read(training: Training, loss: LossCall) -> Iterator[Finding]:
    known = batches(training)
    predicted = prediction(loss)
    if predicted is None or loss.target is None:
        return
    found = tokens(predicted.of) or []
    leads = [lead(one.value, loss.target, known) for one in found]
    if not leads or not all(one is not None and one.steps == predicted.start for one in leads):
        return
    reason = causal_by(predicted.of)
    if reason is None:
        return
    because = () if reason.at is None else (Because(reason.at, "this masks later tokens"),)
    looked_up = found[0].at
    if looked_up.at is not None:
        because = (Because(looked_up.at, "these tokens go into the model here"), *because)
    yield Finding(
        loss.at,
        "The targets are the input tokens themselves, without a shift: " + ADVICE,
        because,
    )


def _of_unseen(training: Training, loss: LossCall) -> Iterator[Finding]:
    call = unshifted_call(training, loss)
    if call is not None:
        yield Finding(
            loss.at,
            "The targets are the input tokens themselves, without a shift: " + ADVICE,
            (Because(call.at, "these tokens go into the model here"),) if call.at is not None else (),
            confidence="likely",
            doubt="that the model predicts next tokens is only known by the code that draws them from it",
        )


def _seen(training: Training) -> Iterator[Finding | Open]:
    compared = training.facts(Aligned)
    for loss in training.events(LossCall):
        if all(loss.at != one.at for one in compared):
            yield Open(loss.at, "which tokens the targets are")
    for one in compared:
        if one.steps == 0 and one.is_causal is None:
            yield Open(one.at, "whether the model sees what comes after each position")
        if one.steps == 0 and one.is_causal:
            yield Finding(
                one.at,
                f"At every position, the target is the input token of {one.model} at that position: "
                + ADVICE,
                (Because(one.called_at, "the same tokens go into the model here"),),
                evidence={
                    "positions compared": one.positions,
                    "targets that are the token at the same position": one.positions,
                    "targets that are the next token": one.next,
                    "outputs change with their own token": True,
                    "outputs change with earlier tokens": True,
                    "outputs change with later tokens": False,
                },
            )
