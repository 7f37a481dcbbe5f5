from collections.abc import Iterable, Iterator

from trainlint.facts.api.meanings import Meaning
from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.evidence import numbers_of, of_loss
from trainlint.facts.ask.in_training import trained_input
from trainlint.facts.ask.meaning import origins
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Op, Value
from trainlint.finding import Because, Finding, Place
from trainlint.rule import rule

from .distances import negated_distances

HARM = {
    Meaning.LOGITS: "the loss has no lower bound, so the weights diverge",
    Meaning.PROBABILITIES: "the gradient vanishes where the model is confidently wrong",
}


@rule(Training, level="error", confidence="likely")
def check(training: Training) -> Iterator[Finding]:
    losses = [one for one in training.events(LossCall) if one.function == "nll_loss" and not one.is_of_menu]
    said: set[Place] = set()
    for loss in losses:
        if not _only_reports(loss):
            for finding in _trained(loss, trained_input(training, loss)):
                said.add(finding.at)
                yield finding
    for loss in losses:
        if _only_reports(loss):
            yield from _reported(loss, said)


def _only_reports(loss: LossCall) -> bool:
    """Whether a loss is computed in evaluation, where nothing learns from it."""
    return loss.output.records is False


def _trained(loss: LossCall, by_mode: Value | None) -> Iterator[Finding]:
    found = list(origins(loss.input)) or list(origins(by_mode))
    for meaning, op, at in _wrong(found):
        yield Finding(
            at,
            f"{loss.name} does not apply log-softmax, but `{op.text or '+='}` gives it {meaning.value}: "
            f"{HARM[meaning]}. Apply `log_softmax` to the logits, or use cross-entropy on them.",
            loss.seen_as(f"{meaning.value} reach"),
            evidence=of_loss(loss, op),
        )
    distances = negated_distances(loss.input) if not found else None
    if distances is not None:
        yield Finding(
            loss.at,
            f"{loss.name} takes log-probabilities, but it gets negative distances: it only makes that to the right class small, "
            "and nothing keeps the other classes away. Use cross-entropy on them, or apply `log_softmax`.",
            (Because(distances.at, "the distances are computed here"),) if distances.at is not None else (),
            confidence="likely",
        )
    largest = numbers_of(loss.input).get("largest", 0.0)
    if not found and largest > 0 and not _has_logarithm(loss.input):
        yield Finding(
            loss.at,
            f"{loss.name} takes log-probabilities, which are at most 0, but it gets values up to "
            f"{largest:.3g} without a log-softmax: {HARM[Meaning.LOGITS]}. Apply `log_softmax`, or use "
            "cross-entropy on the logits.",
            evidence=of_loss(loss),
        )


def _reported(loss: LossCall, said: set[Place]) -> Iterator[Finding]:
    """The same in evaluation, where training does it right."""
    for meaning, op, at in _wrong(origins(loss.input)):
        if at not in said:
            yield Finding(
                loss.at,
                f"{loss.name} does not apply log-softmax, but it gets {meaning.value} here, so the loss that "
                "evaluation reports is wrong: compute it as in training, of `log_softmax` of the logits.",
                (Because(at, f"the {meaning.value} come from here"),),
                evidence=of_loss(loss, op),
            )
            return


def _wrong(found: Iterable[tuple[Meaning, Op]]) -> Iterator[tuple[Meaning, Op, Place]]:
    for meaning, op in found:
        if meaning is not Meaning.LOG_PROBABILITIES and op.at is not None:
            yield meaning, op, op.at


def _has_logarithm(value: Value | None) -> bool:
    """Whether a logarithm was applied anywhere on the way; log-probabilities may have been weighted since."""
    origins = reached([value] if value is not None else [])
    return any(isinstance(one, Op) and "log" in one.name for one in origins)
