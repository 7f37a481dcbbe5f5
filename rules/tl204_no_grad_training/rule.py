from collections.abc import Iterator

from trainlint.facts.ask.attachment import unrecorded
from trainlint.facts.ask.evidence import of_cut
from trainlint.facts.model.events.steps import Backward
from trainlint.facts.model.training import Training
from trainlint.finding import Because, Finding
from trainlint.rule import rule


@rule(Training, level="error")
def check(training: Training) -> Iterator[Finding]:
    for backward in training.events(Backward):
        for op in unrecorded(backward.loss):
            if op.at is not None:
                yield Finding(
                    op.at,
                    f"`{op.text}` runs with gradients disabled, but the loss is computed from its result: "
                    "`backward()` raises, or reaches no parameter. Move it out of `no_grad`.",
                    (Because(backward.at, "`backward()` starts here"),),
                    evidence=of_cut(training, op),
                )
