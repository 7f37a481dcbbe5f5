from collections.abc import Iterator

from trainlint.facts.events import LossCall
from trainlint.facts.flow import meant
from trainlint.facts.torch_api import Meaning
from trainlint.finding import Finding
from trainlint.rule import rule


@rule(LossCall, level="info")
def check(loss: LossCall) -> Iterator[Finding]:
    if loss.function not in ("cross_entropy", "log_softmax"):
        return
    known = meant(loss.input)
    if known is None or known[0] is not Meaning.LOG_PROBABILITIES:
        return
    for op in known[1]:
        if op.at is not None and op is not loss.output:
            yield Finding(
                op.at,
                f"`{op.text}` is applied again inside {loss.name}. That changes nothing, but one of the two is "
                "waste: pass the logits, or use `nn.NLLLoss`.",
                loss.seen_as("log-probabilities reach"),
            )
