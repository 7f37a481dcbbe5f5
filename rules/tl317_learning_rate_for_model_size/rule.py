import math
from collections.abc import Iterator

from trainlint.facts.api.classes import OPTIMIZER, SCHEDULER
from trainlint.facts.ask.evidence import seen_optimizer
from trainlint.facts.ask.flow import made_of
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.events.modules import Built
from trainlint.facts.model.events.steps import Backward
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, Op, alternatives, constant
from trainlint.facts.seen.parameters import ParameterSeen
from trainlint.finding import Finding, Open
from trainlint.rule import rule

from .absolute import squared

BY_SIZE = ((1e5, 0.1), (1e7, 0.03), (1e9, 5e-3), (math.inf, 1e-3))
"""The highest usual rate of Adam and its variants up to each number of parameters."""

PLAIN_BY_SIZE = ((1e5, 10.0), (math.inf, 3.0))
"""The same for SGD."""

LIMITS = {
    **{f"torch.optim.{name}": BY_SIZE for name in ("Adam", "AdamW", "NAdam", "RAdam", "Adamax", "RMSprop")},
    "torch.optim.SGD": PLAIN_BY_SIZE,
}
LOWEST = 1e-7


@rule(Training, level="info", confidence="likely", words="LambdaLR")
def check(training: Training) -> Iterator[Finding | Open]:
    yield from squared(training)
    scheduled = {
        one.uid
        for event in training.events(Built)
        if event.object.is_a(SCHEDULER)
        for one in alternatives(event.object.argument(0, "optimizer"))
    }
    for built in training.events(Built):
        optimizer = built.object
        if not optimizer.is_a(OPTIMIZER) or optimizer.type not in LIMITS or optimizer.uid in scheduled:
            continue
        rate, size = _rate(training, optimizer), _size(training, optimizer)
        highest = next(limit for most, limit in LIMITS[optimizer.type] if (size or 0) <= most)
        if rate is None or LOWEST <= rate <= highest or _is_search(training, built):
            continue
        if rate < LOWEST and _is_of_sum(training):
            continue
        if size is not None and rate < LOWEST:  # a warmup may have just begun
            yield Open(built.at, "whether a warmup raises the rate later")
            continue
        kind = optimizer.type.rpartition(".")[2]
        of = f"{size:,} parameters" if size is not None else "a model of any size"
        usual = (
            f"more than {highest:g} is rare"
            if rate > highest
            else f"less than {LOWEST:g} hardly changes the weights"
        )
        yield Finding(
            built.at,
            f"A learning rate of {rate:g} is far from what is usual for `{kind}` and {of}, where {usual}. "
            "Start with 1e-3 for Adam and its variants, or 0.1 for SGD, and tune from there.",
            evidence={"learning rate": rate, "parameters": size} if size is not None else {},
        )


def _is_search(training: Training, built: Built) -> bool:
    """Whether optimizers are made there with several rates, to find the best."""
    rates = {constant(one.object.argument(1, "lr")) for one in training.events(Built) if one.at == built.at}
    return len(rates) > 1


def _is_of_sum(training: Training) -> bool:
    """Whether something is trained on a sum over samples, whose gradients grow with their number."""
    sums = {
        one.output.uid
        for one in training.events(LossCall)
        if constant(one.setting("reduction", "mean")) != "mean"
    }
    return any(
        one.uid in sums or (isinstance(one, Op) and one.name == "sum")
        for backward in training.events(Backward)
        for one in made_of(backward.loss)
    )


def _rate(training: Training, optimizer: Object) -> float | None:
    """The learning rate, if it is certain; in a run, the highest of its param groups."""
    seen = seen_optimizer(training, optimizer)
    if seen is not None:
        return max(seen.learning_rates, default=None) or None
    given = constant(optimizer.argument(1, "lr"))
    return float(given) if isinstance(given, float | int) and given > 0 else None


def _size(training: Training, optimizer: Object) -> int | None:
    """How many parameters it trains, if a run has counted them."""
    seen = seen_optimizer(training, optimizer)
    if seen is None:
        return None
    held = [one for one in training.facts(ParameterSeen) if seen.number in one.optimizers]
    return sum(math.prod(one.shape) for one in held)
