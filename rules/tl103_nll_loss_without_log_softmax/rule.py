from collections.abc import Iterator

from trainlint.facts.events import LossCall
from trainlint.facts.flow import origins
from trainlint.facts.torch_api import Meaning
from trainlint.finding import Finding
from trainlint.rule import rule

HARM = {
    Meaning.LOGITS: "the loss has no lower bound, so the weights grow without end",
    Meaning.PROBABILITIES: "the gradient vanishes where the model is sure and wrong",
}


@rule(LossCall, level="error")
def check(loss: LossCall) -> Iterator[Finding]:
    if loss.function != "nll_loss":
        return
    for meaning, op in origins(loss.input):
        if meaning is not Meaning.LOG_PROBABILITIES and op.at is not None:
            yield Finding(
                op.at,
                f"{loss.name} takes no logarithm, but `{op.text}` gives it {meaning.value}: {HARM[meaning]}. "
                "Apply `log_softmax` to the logits, or use cross-entropy on them.",
                loss.seen_as(f"{meaning.value} reach"),
            )
