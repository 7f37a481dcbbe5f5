from collections.abc import Iterator

from trainlint.facts.api.meanings import Meaning
from trainlint.facts.ask.clues import applied
from trainlint.facts.ask.evidence import of_loss
from trainlint.facts.ask.guards import are_of_evaluation
from trainlint.facts.ask.meaning import origins
from trainlint.facts.model.events.losses import LossCall
from trainlint.finding import Finding
from trainlint.rule import rule


@rule(LossCall, level="error", confidence="likely")
def check(loss: LossCall) -> Iterator[Finding]:
    is_of_training = not (loss.is_of_menu or are_of_evaluation(loss.guards))
    if loss.function != "binary_cross_entropy_with_logits" or not is_of_training:
        return
    for meaning, op in origins(loss.input):
        if meaning is Meaning.PROBABILITIES and op.at is not None:
            yield Finding(
                op.at,
                f"`{op.text}` turns logits into probabilities, but {loss.name} applies the sigmoid itself: "
                "predictions are confined to [0.5, 0.73]. Pass the logits.",
                loss.seen_as("probabilities reach"),
                evidence=of_loss(loss, op),
                clues={"applied": applied(op)},
            )
