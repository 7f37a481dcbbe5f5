from collections.abc import Iterator

from trainlint.facts.api.meanings import Meaning
from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.evidence import numbers_of, of_loss
from trainlint.facts.ask.meaning import origins
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.values import Op, Value
from trainlint.finding import Finding
from trainlint.rule import rule

HARM = {
    Meaning.LOGITS: "the loss has no lower bound, so the weights diverge",
    Meaning.PROBABILITIES: "the gradient vanishes where the model is confidently wrong",
}


@rule(LossCall, level="error")
def check(loss: LossCall) -> Iterator[Finding]:
    if loss.function != "nll_loss":
        return
    found = list(origins(loss.input))
    for meaning, op in found:
        if meaning is not Meaning.LOG_PROBABILITIES and op.at is not None:
            yield Finding(
                op.at,
                f"{loss.name} does not apply log-softmax, but `{op.text}` gives it {meaning.value}: "
                f"{HARM[meaning]}. Apply `log_softmax` to the logits, or use cross-entropy on them.",
                loss.seen_as(f"{meaning.value} reach"),
                evidence=of_loss(loss, op),
            )
    largest = numbers_of(loss.input).get("largest", 0.0)
    if not found and largest > 0 and not _has_logarithm(loss.input):
        yield Finding(
            loss.at,
            f"{loss.name} takes log-probabilities, which are at most 0, but it gets values up to "
            f"{largest:.3g} without a log-softmax: {HARM[Meaning.LOGITS]}. Apply `log_softmax`, or use "
            "cross-entropy on the logits.",
            evidence=of_loss(loss),
        )


def _has_logarithm(value: Value | None) -> bool:
    """Whether a logarithm was applied anywhere on the way; log-probabilities may have been weighted since."""
    origins = reached([value] if value is not None else [])
    return any(isinstance(one, Op) and "log" in one.name for one in origins)
