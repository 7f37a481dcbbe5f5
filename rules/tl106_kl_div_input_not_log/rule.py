from collections.abc import Iterator

from trainlint.facts.api.meanings import KEEPS, TURNS, Meaning
from trainlint.facts.ask.evidence import of_loss
from trainlint.facts.ask.meaning import origins
from trainlint.facts.ask.new_axes import new_axis
from trainlint.facts.ask.tensors import is_tensor
from trainlint.facts.model.effort import spend
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Op, Value, constant
from trainlint.finding import Finding
from trainlint.rule import rule

from .looked_at import is_only_looked_at
from .widths import is_times_classes


@rule(Training, level="error", confidence="likely")
def check(training: Training) -> Iterator[Finding]:
    for loss in training.events(LossCall):
        yield from _of_loss(training, loss)


def _of_loss(training: Training, loss: LossCall) -> Iterator[Finding]:
    if loss.function != "kl_div" or loss.is_of_menu:
        return
    for meaning, op in origins(loss.input):
        if meaning is not Meaning.LOG_PROBABILITIES and op.at is not None:
            yield Finding(
                op.at,
                f"{loss.name} expects log-probabilities as its input, but `{op.text}` gives it "
                f"{meaning.value}: the result is not a KL divergence and can be negative. Use `log_softmax`.",
                loss.seen_as(f"{meaning.value} reach"),
                evidence=of_loss(loss, op),
            )
    is_told = loss.name != "torch.kl_div"  # which does not average by default
    if (
        is_told
        and not _has_no_classes(loss.input)
        and constant(loss.setting("reduction", default="mean")) == "mean"
        and not is_times_classes(training, loss)
        and not is_only_looked_at(training, loss)
    ):
        yield Finding(
            loss.at,
            f"{loss.name} averages over all elements instead of over samples, so the result is the KL "
            'divergence divided by the number of classes. Pass `reduction="batchmean"`, or, where there are more axes than '
            'samples and classes, `reduction="none"` and take `.sum(1).mean()`.',
            level="warning",
            evidence=of_loss(loss),
        )


def _has_no_classes(value: Value | None) -> bool:
    """Whether no axis is that of the classes, or no other: where it is one row of a tensor that a loop goes through, the
    log-probability of what was chosen, or a last axis of size 1."""
    while isinstance(value, Op) and (value.name in KEEPS or value.name in TURNS) and value.inputs:
        if _ends_in_one(value) or value.name == "gather":
            return True
        spend()
        value = value.inputs[0]
    if not isinstance(value, Op) or not value.inputs:
        return False
    if value.name == "iterate":
        return is_tensor(value.inputs[0])
    return value.name == "log_prob" or _ends_in_one(value)


def _ends_in_one(op: Op) -> bool:
    """Whether the last axis of a result has one entry: `unsqueeze(-1)`, `sum(-1, keepdim=True)`."""
    is_last = constant(op.option(1, "dim")) == -1
    return new_axis(op) == -1 or (is_last and constant(op.option(2, "keepdim")) is True)
