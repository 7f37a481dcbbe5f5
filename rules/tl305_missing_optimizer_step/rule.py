from collections.abc import Iterator

from trainlint.facts.events import Backward, OptimizerStep, ParametersRead, ZeroGrad
from trainlint.facts.torch_api import OPTIMIZER
from trainlint.facts.training import Training
from trainlint.facts.values import Object, alternatives
from trainlint.finding import Because, Finding
from trainlint.rule import rule


@rule(Training, level="error")
def check(training: Training) -> Iterator[Finding]:
    if training.events(OptimizerStep) or training.events(ParametersRead):
        return
    for zero in training.events(ZeroGrad):
        optimizer = next(alternatives(zero.target), None)
        if (
            not isinstance(optimizer, Object)
            or not optimizer.is_a(OPTIMIZER)
            or training.may_touch(optimizer, None)
        ):
            continue
        backward = next(
            (one for one in training.events(Backward) if one.loops and one.loops == zero.loops), None
        )
        if backward is not None and optimizer.at is not None:
            yield Finding(
                backward.at,
                "Gradients are computed here in every round, but nothing ever steps: the parameters stay as they are. "
                "Call `step()` on the optimizer.",
                (Because(optimizer.at, "this optimizer never steps"),),
            )
            return
