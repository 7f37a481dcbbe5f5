import math
from collections.abc import Iterator
from typing import NamedTuple

from trainlint.facts.api.meanings import KEEPS
from trainlint.facts.ask.evidence import numbers_of, shape_of, shown
from trainlint.facts.ask.flow import is_made_of
from trainlint.facts.model.events.event import Event
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.events.steps import Backward, Clip, OptimizerStep
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.model.values import Constant, Op, Value, constant
from trainlint.facts.seen.batches import BatchSeen
from trainlint.facts.seen.optimizers import OptimizerSeen
from trainlint.finding import Finding
from trainlint.rule import rule

OVER_CLASSES = ("cross_entropy", "nll_loss")
BINARY = ("binary_cross_entropy", "binary_cross_entropy_with_logits")
FEWEST_SAMPLES = 4
FAR_OFF = 2.0
"""A first loss is far off beyond this many times chance, and this much more."""
HOPELESS = 20.0
"""The same, where the program scales its logits, or compares each sample with all others: then chance says less."""
LIKE_A_SUM = 0.35
"""How far a sum may be from chance times the number of samples."""


class First(NamedTuple):
    """A first loss: what it is, what guessing gives, and over how many samples."""

    value: float
    chance: float
    classes: int
    samples: int


@rule(Recorded, level="warning", by="T")
def check(run: Recorded) -> Iterator[Finding]:
    if run.ending.after:
        return  # no loss of an untrained model is recorded
    for loss in _before_any_step(run):
        first = _first(loss)
        if first is None:
            continue
        reduction = constant(loss.setting("reduction", "mean"))
        if (
            reduction == "mean"
            and first.value > FAR_OFF * first.chance + FAR_OFF
            and (_is_hopeless(first.value, first.chance) or not _is_scaled(loss.input))
        ):
            yield _finding(
                run,
                loss,
                first,
                f"The first loss is {first.value:.3g}, but guessing among {first.classes} classes gives "
                f"{first.chance:.3g}: the untrained model is confidently wrong. Check the scale of its "
                "inputs and of its last layer, and the labels.",
            )
        elif reduction == "sum" and _is_summed(run, loss, first):
            yield _finding(
                run,
                loss,
                first,
                f"The first loss is {first.value:.3g}, which is the loss of guessing, {first.chance:.3g}, "
                f"times the {first.samples} samples: it is summed, so the steps of plain SGD grow with the "
                "batch size. Average the loss.",
            )


def _before_any_step(run: Recorded) -> Iterator[LossCall]:
    """The first call of each loss that is trained on, if no optimizer has stepped before it."""
    steps = run.events(OptimizerStep)
    if sum(one.steps for one in run.facts(OptimizerSeen)) > len(steps):
        return  # the earliest steps are not among the events
    trained_on = [backward.loss for backward in run.events(Backward)]
    seen = set()
    for event in run.events(Event):
        if isinstance(event, OptimizerStep):
            return
        if isinstance(event, LossCall) and event.at not in seen and event.output.attached:
            seen.add(event.at)
            if any(is_made_of(one, event.output, with_graph=True) for one in trained_on):
                yield event


def _first(loss: LossCall) -> First | None:
    numbers, shape = numbers_of(loss.output), shape_of(loss.input)
    if "value" not in numbers or not math.isfinite(numbers["value"]) or not shape or _weighs(loss):
        return None
    if loss.function in BINARY:
        target = numbers_of(loss.target)
        hard = target.get("smallest") == 0 and target.get("largest") == 1
        samples = math.prod(shape)
        return (
            First(numbers["value"], math.log(2), 2, samples) if hard and samples >= FEWEST_SAMPLES else None
        )
    if loss.function not in OVER_CLASSES or "distinct targets" not in numbers:
        return None
    classes = int(numbers["classes"])
    samples = round(math.prod(shape) / classes * (1 - numbers.get("ignored", 0.0)))
    if (
        samples < FEWEST_SAMPLES
        or numbers["distinct targets"] < 2
        or classes < 2
        or (shape == (samples, samples) and not _is_hopeless(numbers["value"], math.log(classes)))
    ):
        return None
    return First(numbers["value"], math.log(classes), classes, samples)


def _is_hopeless(value: float, chance: float) -> bool:
    return value > HOPELESS * chance + HOPELESS


def _weighs(loss: LossCall) -> bool:
    """Whether classes or samples are weighted, so that guessing gives something else."""
    return any(
        not isinstance(one, Constant) or one.value is not None
        for name in ("weight", "pos_weight")
        if (one := loss.output.options.get(name)) is not None
    )


def _is_scaled(value: Value | None) -> bool:
    """Whether the program itself multiplies the logits, by a temperature or the radius of a margin loss."""
    for _ in range(8):
        if not isinstance(value, Op):
            return False
        if value.name in ("*", "/"):
            return True
        if value.name not in KEEPS and value.name not in ("+", "-", "output"):
            return False
        value = value.inputs[0] if value.inputs else None
    return False


def _is_summed(run: Recorded, loss: LossCall, first: First) -> bool:
    """Whether the sum itself is trained on, by an optimizer that does not normalise gradients."""
    optimizers = run.facts(OptimizerSeen)
    plain = bool(optimizers) and all(one.type == "torch.optim.SGD" for one in optimizers)
    as_it_is = any(one.loss is loss.output for one in run.events(Backward))
    return (
        plain
        and as_it_is
        and not run.events(Clip)
        and first.samples >= 2 * FEWEST_SAMPLES
        and abs(first.value / (first.chance * first.samples) - 1) < LIKE_A_SUM
    )


def _finding(run: Recorded, loss: LossCall, first: First, message: str) -> Finding:
    given = numbers_of(loss.input)
    shape = shape_of(loss.input)
    evidence = {
        "first loss": first.value,
        "loss of guessing": first.chance,
        "classes": first.classes,
        "samples": first.samples,
        "input shape": shown(shape) if shape else "",
    }
    if "largest" in given:
        evidence |= {"smallest logit": given["smallest"], "largest logit": given["largest"]}
    batches = [one.spread for one in run.facts(BatchSeen) if one.role == "input" and one.spread is not None]
    if batches:
        evidence["largest input of the model"] = max(abs(one.largest) for one in batches)
    return Finding(loss.at, message, loss.seen_as("the logits reach")[1:], evidence=evidence)
