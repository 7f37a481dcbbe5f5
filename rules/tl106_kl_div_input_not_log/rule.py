from collections.abc import Iterator

from trainlint.facts.api.meanings import KEEPS, TURNS, Meaning
from trainlint.facts.ask.evidence import of_loss
from trainlint.facts.ask.meaning import origins
from trainlint.facts.ask.tensors import is_tensor
from trainlint.facts.model.effort import spend
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.values import Op, Value, constant
from trainlint.finding import Finding
from trainlint.rule import rule


@rule(LossCall, level="error", confidence="likely")
def check(loss: LossCall) -> Iterator[Finding]:
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
    if is_told and not _is_row(loss.input) and constant(loss.setting("reduction", default="mean")) == "mean":
        yield Finding(
            loss.at,
            f"{loss.name} averages over all elements instead of over samples, so the result is the KL "
            'divergence divided by the number of classes. Pass `reduction="batchmean"`.',
            level="warning",
            evidence=of_loss(loss),
        )


def _is_row(value: Value | None) -> bool:
    """Whether it is one of the rows of a tensor that a loop goes through: its only axis is that of the classes."""
    while isinstance(value, Op) and (value.name in KEEPS or value.name in TURNS) and value.inputs:
        spend()
        value = value.inputs[0]
    return isinstance(value, Op) and value.name == "iterate" and is_tensor(value.inputs[0])
