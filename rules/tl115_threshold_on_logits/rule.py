from collections.abc import Iterator

from trainlint.facts.api.meanings import Meaning
from trainlint.facts.api.operations import COMPARISONS
from trainlint.facts.ask.evidence import numbers_of
from trainlint.facts.ask.meaning import origins
from trainlint.facts.ask.unseen_models import unseen_model
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.events.operations import Operation
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Constant, Value
from trainlint.finding import Because, Finding
from trainlint.rule import rule

HALF = 0.5
_SIGMOIDS = frozenset(("sigmoid", "expit"))
_SAID = (
    "these are logits, not probabilities: a logit of 0.5 is a probability of 0.62, so this threshold finds too few "
    "positives. Compare with 0, or apply `torch.sigmoid` first."
)


@rule(Training, level="warning")
def check(training: Training) -> Iterator[Finding]:
    trained = {
        layer: loss
        for loss in training.events(LossCall)
        if loss.function == "binary_cross_entropy_with_logits"
        for layer in _layers(loss.input)
    }
    unseen = {} if isinstance(training, Recorded) else _of_unseen_models(training)
    yield from _always(training)
    for event in training.events(Operation) if trained or unseen else ():
        scores = _cut_at_half(event)
        model = unseen_model(scores)
        if model is not None and model.uid in unseen:
            yield Finding(
                event.at,
                _SAID,
                (Because(unseen[model.uid].at, f"{unseen[model.uid].name} trains them as logits here"),),
                confidence="likely",
                doubt=_AS_DEFAULT if _is_default(event) else "what the model ends in is not in sight",
            )
            continue
        for layer in _layers(scores):
            if layer in trained:
                loss = trained[layer]
                seen = {key: one for key, one in numbers_of(scores).items() if key in ("smallest", "largest")}
                yield Finding(
                    event.at,
                    _SAID,
                    (Because(loss.at, f"{loss.name} trains them as logits here"),),
                    evidence=seen,
                    confidence="likely" if _is_default(event) else None,
                    doubt=_AS_DEFAULT if _is_default(event) else "",
                )
                break


_AS_DEFAULT = "another threshold may be handed over"


def _is_default(event: Operation) -> bool:
    """Whether the threshold is one that a caller, or a user, may change."""
    return any(isinstance(one, Constant) and one.is_default for one in event.output.inputs)


def _always(training: Training) -> Iterator[Finding]:
    """Probabilities that are compared with 0: none is below. A test may say so."""
    for event in training.events(Operation):
        is_open = training.is_in_test(event.at) or _is_default(event)
        scores = None if is_open else _cut_at(event, 0)
        made = list(origins(scores)) if scores is not None else []
        sigmoid = next((op for _, op in made), None)
        if sigmoid is not None and all(op.name in _SIGMOIDS for _, op in made):
            yield Finding(
                event.at,
                "These are probabilities, which are all above 0: every sample is on the same side of this threshold. Compare "
                "them with 0.5, or the logits with 0.",
                (Because(sigmoid.at, "they become probabilities here"),) if sigmoid.at is not None else (),
            )


def _of_unseen_models(training: Training) -> dict[int, LossCall]:
    """The models that are trained on logits, of which nothing says what they end in, by number."""
    return {
        model.uid: loss
        for loss in training.events(LossCall)
        if loss.function == "binary_cross_entropy_with_logits"
        and (model := unseen_model(loss.input)) is not None
    }


def _cut_at_half(event: Operation) -> Value | None:
    """What is compared with 0.5, or rounded."""
    op = event.output
    if op.name == "round" and len(op.inputs) == 1 and not op.options:
        return op.inputs[0]
    return _cut_at(event, HALF)


def _cut_at(event: Operation, threshold: float) -> Value | None:
    """What is compared with a number."""
    op = event.output
    if op.name in COMPARISONS and len(op.inputs) == 2:
        first, second = op.inputs
        if _is_number(second, threshold):
            return first
        if _is_number(first, threshold):
            return second
    return None


def _is_number(value: Value, number: float) -> bool:
    found = value.value if isinstance(value, Constant) else None
    return isinstance(found, (int, float)) and not isinstance(found, bool) and found == number


def _layers(value: Value | None) -> list[int]:
    """The layers whose output certainly is logits, by number."""
    found = list(origins(value)) if value is not None else []
    if not all(meaning is Meaning.LOGITS and op.owner is not None for meaning, op in found):
        return []
    return [op.owner.uid for _, op in found if op.owner is not None]
