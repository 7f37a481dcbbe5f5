"""Inner loops over the batches of one step, by the name of how many there are: `for _ in range(args.grad_accum)`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainlint.facts.ask.interference import may_touch_anything
from trainlint.facts.ask.means import is_mean_of_labels, is_whole_mean
from trainlint.facts.model.events.parameters import ParametersRead
from trainlint.facts.model.events.steps import Backward, Clip, OptimizerStep, ZeroGrad
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Constant, Object, Op, Unknown, Value, alternatives
from trainlint.finding import Because, Finding

from .shown import divides_by_size, rounds_of, step_behind

_NAMED = re.compile(r"accum|micro_?(steps|batches)", re.IGNORECASE)


def named_rounds(training: Training) -> Iterator[Finding]:
    """Losses that are means over their own batch, in a loop that runs once for each batch of a step."""
    for backward in training.events(Backward):
        times = rounds_of(training, backward)
        step = step_behind(training, backward)
        if times is None or step is None or not backward.accumulates or backward.by_framework:
            continue
        if _NAMED.search(_name(times)) and _suffers(training, step) and _adds_means(training, backward, step):
            yield Finding(
                backward.at,
                "The gradients of several batches accumulate here for one step, each of a mean over its batch, so their sum is "
                "too large by the number of batches. Divide the loss by it.",
                (Because(step.at, "the optimizer only steps here"),),
                confidence="likely",
                doubt="how many batches make a step is only known by its name",
            )


def _name(times: Value) -> str:
    match times:
        case Unknown(text=name):
            return name
        case Op(name="getattr", options={"name": Constant(value=str(name))}):
            return name
        case Op(name="getitem", options={"index": Constant(value=str(name))}):
            return name
    return ""


def _suffers(training: Training, step: OptimizerStep) -> bool:
    """Whether the size of gradients matters to a step: it is clipped, or the optimizer does not divide by it."""
    optimizers = list(alternatives(step.optimizer))
    return bool(training.inside(step.loops[-1], Clip)) or all(
        isinstance(one, Object) and not divides_by_size(one) for one in optimizers
    )


def _adds_means(training: Training, backward: Backward, step: OptimizerStep) -> bool:
    """Whether gradients of means are summed up in the inner loop, and nothing changes them before the step."""
    return (
        (is_whole_mean(training, backward.loss) or is_mean_of_labels(backward.loss))
        and not training.inside(backward.loops[-1], ZeroGrad)
        and not any(one.of_gradients for one in training.inside(step.loops[-1], ParametersRead))
        and not may_touch_anything(training, step.loops)
    )
