from collections.abc import Iterator

from trainlint.facts.model.events import Backward, OptimizerStep
from trainlint.facts.model.training import Training
from trainlint.finding import Because, Finding, Open
from trainlint.rule import rule


@rule(Training, level="error")
def check(training: Training) -> Iterator[Finding | Open]:
    for step in training.events(OptimizerStep):
        if not training.is_optimizer(step.optimizer):
            continue
        for number in reversed(step.loops):
            backwards = [one for one in training.inside(number, Backward) if one.accumulates]
            if not backwards:
                continue
            made_here = training.is_made_inside(step.optimizer, number)
            starts_clean = made_here or training.is_cleared(step, number)
            if starts_clean is None:
                yield Open(step.at, "whether the gradients are cleared before a second step")
            elif not starts_clean:
                yield Finding(
                    step.at,
                    f"`{training.name_of(step)}` uses the gradients of all earlier rounds added up, because nothing in "
                    "this loop clears them. Call `zero_grad()` once for each step.",
                    (
                        Because(backwards[0].at, "gradients are added here"),
                        Because(training.loops[number].at, "in every round of this loop"),
                    ),
                    evidence=training.left_over(step),
                    clues={"scaled": step.scaler is not None},
                )
            break
