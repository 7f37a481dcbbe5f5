from collections.abc import Iterator

from trainlint.facts.model.events.parameters import ParametersRead
from trainlint.facts.model.events.steps import Backward, ZeroGrad
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import constant
from trainlint.finding import Finding
from trainlint.rule import rule


@rule(Training, level="info", refutable=False, by="S")
def check(training: Training) -> Iterator[Finding]:
    if training.events(ParametersRead) or not training.events(Backward):
        return
    for place in dict.fromkeys(
        zero.at for zero in training.events(ZeroGrad) if constant(zero.to_none) is False
    ):
        yield Finding(
            place,
            "This fills all gradients with zeros, which takes a pass over them and keeps them in memory "
            "during the next forward. Leave `set_to_none` at its default, and `backward()` allocates new "
            "ones.",
        )
