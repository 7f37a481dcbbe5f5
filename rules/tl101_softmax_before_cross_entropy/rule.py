from collections.abc import Iterator

from trainlint.facts.api.meanings import Meaning
from trainlint.facts.ask.clues import applied
from trainlint.facts.ask.evidence import of_loss
from trainlint.facts.ask.guards import are_of_evaluation
from trainlint.facts.ask.meaning import is_one_of_several, origins
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Op, alternatives
from trainlint.finding import Finding, Place
from trainlint.rule import rule

LOG_SOFTMAX_INSIDE = ("cross_entropy", "log_softmax")

_LEARNED = "gradients nearly vanish and the loss stays high"
_REPORTED = "the loss that is reported stays far from 0, however good the predictions are"


@rule(Training, level="error")
def check(training: Training) -> Iterator[Finding]:
    losses = [
        one
        for one in training.events(LossCall)
        if one.function in LOG_SOFTMAX_INSIDE and not (one.is_of_menu or are_of_evaluation(one.guards))
    ]
    given = [(one, list(_probabilities(one))) for one in losses]
    others = {(one.at, one.calls) for one, found in given if not found}
    learned_from = {at for one, found in given if _records(one) for _, at in found}
    for loss, found in given:
        is_sure = not _is_chosen(loss, others)
        for op, at in found:
            is_reported = at not in learned_from
            yield Finding(
                at,
                f"`{op.text}` turns logits into probabilities, but {loss.name} applies log-softmax itself: "
                f"{_REPORTED if is_reported else _LEARNED}. Pass the logits.",
                loss.seen_as("probabilities reach"),
                level="warning" if is_reported else None,
                evidence=of_loss(loss, op),
                clues={"applied": applied(op)},
                confidence=None if is_sure else "likely",
                doubt="" if is_sure else "options choose the activation and the loss, and may agree",
            )


def _records(loss: LossCall) -> bool:
    """Whether gradients may come from a loss, and it is not one that an evaluation only reports."""
    return any(not isinstance(one, Op) or one.records is not False for one in alternatives(loss.output))


def _probabilities(loss: LossCall) -> Iterator[tuple[Op, Place]]:
    for meaning, op in origins(loss.input):
        if meaning is Meaning.PROBABILITIES and op.at is not None:
            yield op, op.at


def _is_chosen(loss: LossCall, others: set[tuple[Place, tuple[Place, ...]]]) -> bool:
    """Whether a condition chooses this loss, and one the activation of its input: it is also given something else."""
    return bool(loss.guards) and ((loss.at, loss.calls) in others or is_one_of_several(loss.input))
