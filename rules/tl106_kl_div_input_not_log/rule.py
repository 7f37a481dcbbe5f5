from collections.abc import Iterator

from trainlint.facts.api.meanings import Meaning
from trainlint.facts.ask.evidence import of_loss
from trainlint.facts.ask.meaning import origins
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.values import constant
from trainlint.finding import Finding
from trainlint.rule import rule


@rule(LossCall, level="error")
def check(loss: LossCall) -> Iterator[Finding]:
    if loss.function != "kl_div":
        return
    for meaning, op in origins(loss.input):
        if meaning is not Meaning.LOG_PROBABILITIES and op.at is not None:
            yield Finding(
                op.at,
                f"{loss.name} expects log-probabilities as its input, but `{op.text}` gives it "
                f"{meaning.value}: the result is not a KL divergence and can be negative. Use `log_softmax`.",
                loss.seen_as(f"{meaning.value} reach"),
                evidence=of_loss(loss, op),
            )
    is_told = loss.name != "torch.kl_div"  # which does not average by default
    if is_told and constant(loss.setting("reduction", default="mean")) == "mean":
        yield Finding(
            loss.at,
            f"{loss.name} averages over all elements instead of over samples, so the result is the KL "
            'divergence divided by the number of classes. Pass `reduction="batchmean"`.',
            level="warning",
            evidence=of_loss(loss),
        )
