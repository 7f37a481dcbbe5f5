"""Losses that a module of Lightning's divides by the number of batches of a step, as its trainer does too."""

from __future__ import annotations

from collections.abc import Iterator

from trainlint.facts.api import frameworks as owners
from trainlint.facts.ask.helpers import certain, is_one
from trainlint.facts.model.events.frameworks import StepMethod
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Constant, Op, Table, Value, alternatives, constant
from trainlint.finding import Because, Finding

_TOLD = "accumulate_grad_batches"


def divided_by_both(training: Training) -> Iterator[Finding]:
    for runner in training.objects:
        steps = runner.options.get(_TOLD) if runner.is_a(owners.RUNNER) else None
        if steps is None or is_one(steps):
            continue
        for event in training.events(StepMethod):
            if event.name != "training_step" or event.automatic is not True:
                continue
            for division in filter(None, (_division(loss, steps) for loss in _losses(event.returns))):
                number = certain(steps)
                share = f"1/{number * number}" if number is not None else "1/n²"
                if division.at is not None:
                    yield Finding(
                        division.at,
                        f"The trainer divides the loss by `{_TOLD}` itself, so this division makes {share} of each batch's "
                        "gradient count. Remove it.",
                        (Because(runner.at, "the trainer is told the number here"),) if runner.at else (),
                        level="warning",
                    )


def _losses(returns: Value) -> Iterator[Value]:
    for one in alternatives(returns):
        yield from alternatives(one.entries.get("loss") if isinstance(one, Table) else one)


def _division(loss: Value, steps: Value) -> Op | None:
    """The division of a loss by the number of batches; one of a sum by the same number may be of its terms."""
    match loss:
        case Op(name="/" | "div", inputs=(whole, by)):
            is_sum = isinstance(whole, Op) and whole.name in ("+", "sum")
            if any(_is_number(one, steps, is_sum) for one in alternatives(by)):
                return loss
    return None


def _is_number(by: Value, steps: Value, is_sum: bool) -> bool:
    match by:
        case Op(name="getattr", options={"name": Constant(value=str(name))}) if name == _TOLD:
            return True
        case Constant() if not is_sum and certain(steps) is not None:
            return bool(constant(by) == certain(steps))
    return by is steps
