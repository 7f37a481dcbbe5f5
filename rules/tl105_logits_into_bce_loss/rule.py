from collections.abc import Iterator

from trainlint.facts.events import LossCall
from trainlint.facts.flow import meant
from trainlint.facts.torch_api import Meaning
from trainlint.finding import Finding
from trainlint.rule import rule


@rule(LossCall, level="error")
def check(loss: LossCall) -> Iterator[Finding]:
    if loss.function != "binary_cross_entropy":
        return
    known = meant(loss.input)
    if known is None or known[0] is Meaning.PROBABILITIES:
        return
    meaning, ops = known
    for op in ops:
        if op.at is not None:
            yield Finding(
                op.at,
                f"{loss.name} expects probabilities in [0, 1], but `{op.text}` gives it {meaning.value}: it raises as soon "
                "as a value leaves that range. Use `nn.BCEWithLogitsLoss` on the logits.",
                loss.seen_as(f"{meaning.value} reach"),
            )
