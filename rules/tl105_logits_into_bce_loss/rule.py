from collections.abc import Iterator

from trainlint.facts.api.meanings import Meaning
from trainlint.facts.ask.evidence import of_loss
from trainlint.facts.ask.guards import are_of_evaluation
from trainlint.facts.ask.meaning import origins
from trainlint.facts.model.events.losses import LossCall
from trainlint.finding import Finding
from trainlint.rule import rule


@rule(LossCall, level="error", confidence="likely")
def check(loss: LossCall) -> Iterator[Finding]:
    is_of_training = not (loss.is_of_menu or are_of_evaluation(loss.guards))
    if loss.function != "binary_cross_entropy" or not is_of_training:
        return
    for meaning, op in origins(loss.input):
        if meaning is not Meaning.PROBABILITIES and op.at is not None:
            yield Finding(
                op.at,
                f"{loss.name} expects probabilities in [0, 1], but `{op.text or '+='}` gives it {meaning.value}: it "
                "raises as soon as a value is outside that range. Use `nn.BCEWithLogitsLoss` on the logits.",
                loss.seen_as(f"{meaning.value} reach"),
                evidence=of_loss(loss, op),
            )
