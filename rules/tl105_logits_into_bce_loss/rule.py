from collections.abc import Iterator

from trainlint.facts.api.meanings import CLAMPS, KEEPS, Meaning
from trainlint.facts.ask.evidence import of_loss
from trainlint.facts.ask.guards import are_of_evaluation
from trainlint.facts.ask.in_training import trained_input
from trainlint.facts.ask.meaning import origins
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Op, Value, constant
from trainlint.finding import Finding
from trainlint.rule import rule


@rule(Training, level="error", confidence="likely")
def check(training: Training) -> Iterator[Finding]:
    for loss in training.events(LossCall):
        yield from _of(loss, training)


def _of(loss: LossCall, training: Training) -> Iterator[Finding]:
    is_of_training = not (loss.is_of_menu or are_of_evaluation(loss.guards))
    if loss.function != "binary_cross_entropy" or not is_of_training:
        return
    for meaning, op in list(origins(loss.input)) or origins(trained_input(training, loss)):
        if meaning is not Meaning.PROBABILITIES and op.at is not None:
            yield Finding(
                op.at,
                f"{loss.name} expects probabilities in [0, 1], but `{op.text or '+='}` gives it {meaning.value}: it "
                "raises as soon as a value is outside that range. Use `nn.BCEWithLogitsLoss` on the logits.",
                loss.seen_as(f"{meaning.value} reach"),
                evidence=of_loss(loss, op),
            )
    clamp = _clamp(loss.input)
    for meaning, op in origins(clamp.inputs[0]) if clamp is not None else ():
        if meaning is Meaning.LOGITS and op.at is not None:
            yield Finding(
                op.at,
                f"{loss.name} expects probabilities, but `{op.text or '+='}` gives logits that are only clamped: "
                "those outside the limits get no gradient, and those inside are no probabilities. Use `nn.BCEWithLogitsLoss` on the "
                "logits, or `sigmoid` before the clamp.",
                loss.seen_as("clamped logits reach"),
                evidence=of_loss(loss, op),
            )


def _clamp(value: Value | None) -> Op | None:
    """The operation that keeps a tensor off 0 and 1 for the logarithm, as one does with probabilities, through views. Between 0
    and 1 themselves, logits may be meant as probabilities."""
    while isinstance(value, Op) and value.name in KEEPS and value.inputs and not value.written:
        value = value.inputs[0]
    if not isinstance(value, Op) or value.name not in CLAMPS or not value.inputs:
        return None
    low, high = constant(value.option(1, "min")), constant(value.option(2, "max"))
    is_within = isinstance(low, float) and isinstance(high, float) and 0 < low < high < 1
    return value if is_within else None
