from collections.abc import Iterator

from trainlint.facts.api.torch_names import shifts_labels
from trainlint.facts.ask.sequences import Batches, batches, lead, prediction, tokens
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Op, alternatives
from trainlint.facts.seen.targets import Aligned
from trainlint.finding import Because, Finding, Open
from trainlint.rule import rule

OVER_TOKENS = ("cross_entropy", "nll_loss")
HARM = "so each position is trained to predict the token after the next one"


@rule(Training, level="error")
def check(training: Training) -> Iterator[Finding | Open]:
    if isinstance(training, Recorded):
        yield from _seen(training)
        return
    known = batches(training)
    for forward in training.events(Forward):
        yield from _labelled(forward, known)
    losses = [loss for loss in training.events(LossCall) if loss.function in OVER_TOKENS]
    steps = [_steps(loss, known) for loss in losses]
    if 1 not in steps:
        for loss, ahead in zip(losses, steps, strict=True):
            if ahead == 2:
                yield Finding(
                    loss.at,
                    f"The targets are already shifted by one, and are shifted again here, {HARM}. Shift once.",
                )


def _labelled(forward: Forward, known: Batches) -> Iterator[Finding]:
    """A Hugging Face model that shifts its labels gets labels that are shifted already."""
    for output in alternatives(forward.output):
        call = output.inputs[0] if isinstance(output, Op) and output.inputs else None
        if not isinstance(call, Op) or not shifts_labels(call.name):
            continue
        given, labels = call.option(0, "input_ids"), call.options.get("labels")
        found = lead(given, labels, known) if given is not None and labels is not None else None
        if found is not None and found.steps == 1:
            at = labels.at if isinstance(labels, Op) else None
            yield Finding(
                forward.at,
                f"This model shifts `labels` itself, and these are shifted already, {HARM}. Pass the "
                "unshifted ids: `labels=input_ids`.",
                (Because(at, "the labels are created here"),) if at is not None else (),
            )


def _steps(loss: LossCall, known: Batches) -> int | None:
    """By how many positions the targets are ahead of the tokens, by slices of one position each."""
    predicted = prediction(loss)
    if predicted is None or loss.target is None:
        return None
    found = [lead(one.value, loss.target, known) for one in tokens(predicted.of) or ()]
    steps = {one.steps - predicted.start if one is not None and one.largest == 1 else None for one in found}
    return steps.pop() if len(steps) == 1 else None


def _seen(training: Training) -> Iterator[Finding | Open]:
    compared = training.facts(Aligned)
    for event in (*training.events(LossCall), *training.events(Forward)):
        if all(event.at not in (one.at, one.called_at) for one in compared):
            yield Open(event.at, "which tokens the targets are")
    for one in compared:
        if one.steps == 2:
            yield Finding(
                one.at,
                f"The targets are two tokens ahead of the input of {one.model}: they were shifted twice, "
                f"{HARM}. Shift once; the causal models of Hugging Face shift `labels` themselves.",
                (Because(one.called_at, "the tokens go into the model here"),),
                evidence={
                    "positions compared": one.positions,
                    "targets that are two tokens ahead": one.positions,
                    "targets that are the next token": one.next,
                },
            )
