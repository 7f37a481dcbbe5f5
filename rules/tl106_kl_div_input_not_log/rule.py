from collections.abc import Iterator

from trainlint.facts.events import LossCall
from trainlint.facts.flow import meant
from trainlint.facts.torch_api import Meaning
from trainlint.facts.values import constant
from trainlint.finding import Finding
from trainlint.rule import rule


@rule(LossCall, level="error")
def check(loss: LossCall) -> Iterator[Finding]:
    if loss.function != "kl_div":
        return
    known = meant(loss.input)
    if known is not None and known[0] is not Meaning.LOG_PROBABILITIES:
        for op in known[1]:
            if op.at is not None:
                yield Finding(
                    op.at,
                    f"{loss.name} expects log-probabilities as its input, but `{op.text}` gives it {known[0].value}: "
                    "the result is no divergence and can be negative. Use `log_softmax`.",
                    loss.seen_as(f"{known[0].value} reach"),
                )
    if constant(loss.setting("reduction")) == "mean":
        yield Finding(
            loss.at,
            f'{loss.name} with `reduction="mean"` divides by the number of elements, not of samples, and is not the KL '
            'divergence. Use `reduction="batchmean"`.',
            level="warning",
        )
