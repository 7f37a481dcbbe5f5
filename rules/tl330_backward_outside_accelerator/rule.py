from collections.abc import Iterator

from trainlint.facts.ask.helpers import (
    batches_of_step,
    certain,
    counting_helpers,
    handed_to,
    is_divided,
    is_one,
    outputs_in,
    precision,
)
from trainlint.facts.model.events.frameworks import Prepared
from trainlint.facts.model.events.steps import Backward
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Choice, Object, Value, compatible, constant
from trainlint.finding import Because, Finding, Level
from trainlint.rule import rule


@rule(Training, level="error", by="S")
def check(training: Training) -> Iterator[Finding]:
    for helper in counting_helpers(training):
        handed = handed_to(training, helper).numbers
        given = [one for one in training.events(Prepared) if one.by is helper]
        for backward in training.events(Backward):
            if backward.by_framework or not backward.loops:
                continue
            if not any(compatible(one.guards, backward.guards) for one in given):
                continue  # nothing is prepared where this is done
            called = [one for one in outputs_in(training, backward) if one.module.uid in handed]
            harm = _harm(helper, backward) if called else None
            if harm is None:
                continue
            what, level = harm
            yield Finding(
                backward.at,
                f"{what} Call `accelerator.backward(loss)` instead.",
                (Because(helper.at, "the helper is told of it here"),) if helper.at is not None else (),
                level=level,
            )


def _harm(helper: Object, backward: Backward) -> tuple[str, Level | None] | None:
    """What a plain backward leaves out; None where that is nothing."""
    asked = precision(helper)
    if constant(asked) == "fp16":
        return "The loss is not scaled here, so small float16 gradients become zero.", None
    if _may_be_half(asked, backward):
        return (
            "Where float16 is chosen, the loss is not scaled here, so small gradients become zero.",
            "warning",
        )
    steps = batches_of_step(helper)
    if is_one(steps) or is_divided(backward.loss, helper) is not None:
        return None
    number = certain(steps)
    if number is not None:
        return (
            f"The loss is not divided by {number} here, so the gradients of a step are {number} times too large.",
            None,
        )
    return (
        "The loss is not divided by the number of batches of a step here: gradients grow with it.",
        "warning",
    )


def _may_be_half(asked: Value | None, backward: Backward) -> bool:
    """Whether float16 is one of the precisions that a setting chooses among, as in `"fp16" if amp else "no"`, where this runs."""
    return isinstance(asked, Choice) and any(
        constant(one) == "fp16" and compatible(guards, backward.guards) for guards, one in asked.options
    )
