from collections.abc import Iterator

from trainlint.facts.ask.evidence import of_cut
from trainlint.facts.ask.stops import is_compared, stopped
from trainlint.facts.model.events.parameters import RequiresGrad
from trainlint.facts.model.events.steps import Backward
from trainlint.facts.model.training import Training
from trainlint.finding import Because, Finding
from trainlint.rule import rule


@rule(Training, level="error")
def check(training: Training) -> Iterator[Finding]:
    patched = {event.target.uid for event in training.events(RequiresGrad)}
    for backward in training.events(Backward):
        for term, ends in stopped(backward.loss):
            if {term.uid, backward.loss.uid} & patched or not is_compared(term):
                continue
            for end in ends:
                if end.at is not None:
                    yield Finding(
                        end.at,
                        "accuracy is piecewise constant, so it has no gradient and the model learns nothing "
                        "from it. Train on a differentiable loss of the scores, such as `F.cross_entropy`, "
                        "and only log the accuracy.",
                        (Because(backward.at, "the loss is computed here"),),
                        evidence=of_cut(training, end),
                    )
