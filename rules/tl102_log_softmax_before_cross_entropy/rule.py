from collections.abc import Iterator

from trainlint.facts.api.meanings import Meaning
from trainlint.facts.ask.evidence import of_loss
from trainlint.facts.ask.guards import are_of_evaluation
from trainlint.facts.ask.meaning import origins
from trainlint.facts.model.events.losses import LossCall
from trainlint.finding import Finding
from trainlint.rule import rule


@rule(LossCall, level="info")
def check(loss: LossCall) -> Iterator[Finding]:
    is_of_training = not (loss.is_of_menu or are_of_evaluation(loss.guards))
    if loss.function not in ("cross_entropy", "log_softmax") or not is_of_training:
        return
    for meaning, op in origins(loss.input):
        if meaning is Meaning.LOG_PROBABILITIES and op.at is not None and op is not loss.output:
            yield Finding(
                op.at,
                f"{loss.name} applies log-softmax itself, so `{op.text}` is redundant: it costs time and "
                "changes nothing. Pass the logits, or use `nn.NLLLoss`.",
                loss.seen_as("log-probabilities reach"),
                evidence=of_loss(loss, op),
            )
