from collections.abc import Iterator

from trainlint.facts.events import Backward, OptimizerStep
from trainlint.facts.training import Training
from trainlint.finding import Because, Finding
from trainlint.rule import rule


@rule(Training, level="error")
def check(training: Training) -> Iterator[Finding]:
    for step in training.events(OptimizerStep):
        if not training.is_optimizer(step.optimizer):
            continue
        for number in reversed(step.loops):
            backwards = [one for one in training.inside(number, Backward) if one.accumulates]
            if not backwards:
                continue
            made_here = training.is_made_inside(step.optimizer, number)
            if not made_here and not training.is_cleared(step, number):
                yield Finding(
                    step.at,
                    f"`{training.name_of(step)}` uses the accumulated gradients of all earlier iterations, "
                    "because nothing in this loop clears them. Call `zero_grad()` once per step.",
                    (
                        Because(backwards[0].at, "gradients accumulate here"),
                        Because(training.loops[number].at, "on every iteration of this loop"),
                    ),
                    evidence=training.left_over(step),
                    clues={"scaled": step.scaler is not None},
                )
            break
