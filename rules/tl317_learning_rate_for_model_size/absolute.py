"""Functions that give the learning rate itself to a scheduler that multiplies it by the first one."""

from __future__ import annotations

from collections.abc import Iterator

from trainlint.facts.ask.asking import reached
from trainlint.facts.model.events.steps import Scheduled
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Choice, Constant, Object, Op, Unknown, Value, alternatives, constant
from trainlint.finding import Finding

_RATES = frozenset("lr learning_rate base_lr max_lr peak_lr init_lr initial_lr lr_max lr_peak".split())
_PASSES = frozenset(
    "+ - min max builtins.min builtins.max builtins.float float_number torch.clamp clamp".split()
)


def squared(training: Training) -> Iterator[Finding]:
    """A `LambdaLR` whose function is proportional to the rate of its optimizer."""
    for event in training.events(Scheduled):
        optimizers = list(alternatives(event.scheduler.argument(0, "optimizer")))
        rates = [one.argument(1, "lr") for one in optimizers if isinstance(one, Object) and not one.is_open]
        if any(constant(rate) in (1, 1.0) for rate in rates):
            continue  # a base of which the factor is the rate itself
        if any(constant(one) in (1, 1.0) for one in alternatives(event.factor)):
            continue  # what is 1 at times is a factor, whatever the other numbers are
        if any(_is_large(rate) for rate in rates):
            continue
        is_divided = any(
            isinstance(one, Op)
            and one.name == "/"
            and any(_is_rate(inner, rates) for inner in reached(one.inputs[1:]))
            for one in reached([event.factor])
        )
        if is_divided or not any(_is_rate(one, rates) for one in reached([event.factor], _proportional)):
            continue
        yield Finding(
            event.at,
            "`LambdaLR` multiplies the optimizer's learning rate by what this function gives, and it gives a learning rate: "
            "the result is about its square, which is far too small. Return a factor, which is 1 at the peak.",
            level="warning",
            confidence=None if any(rate is not None for rate in rates) else "likely",
            doubt=""
            if any(rate is not None for rate in rates)
            else "the optimizer may have been given `lr=1`",
        )


def _is_large(rate: Value | None) -> bool:
    """Whether a rate is so near 1 that its square is one too: what a command line gives as default counts."""
    number = rate.value if isinstance(rate, Constant) else None
    return isinstance(number, float) and number >= _NEAR_ONE


_NEAR_ONE = 0.5


def _is_rate(value: Value, rates: list[Value | None]) -> bool:
    """Whether a value is the learning rate of an optimizer, by its identity or its name."""
    for rate in rates:
        number, other = constant(rate), constant(value)
        if rate is value or (isinstance(number, float) and number == other and number < _NEAR_ONE):
            return True
    match value:
        case Op(name="getattr", options={"name": Constant(value=str(name))}):
            return name in _RATES
        case Op(name="getitem", options={"index": Constant(value=str(name))}):
            return name in _RATES
        case Unknown():
            return value.text in _RATES
    return False


def _proportional(value: Value) -> tuple[Value, ...]:
    """What a number is a multiple or a sum of."""
    match value:
        case Choice():
            return tuple(value.parts())
        case Op(name="*"):
            return value.inputs
        case Op(name="/"):
            return value.inputs[:1]
        case Op(name="max" | "builtins.max"):
            return tuple(one for one in value.inputs if not isinstance(one, Constant))  # only the least of it
        case Op() if value.name in _PASSES:
            return value.inputs
    return ()
