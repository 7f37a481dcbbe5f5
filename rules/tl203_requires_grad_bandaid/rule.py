from collections.abc import Iterator

from trainlint.facts.events import Backward, RequiresGrad
from trainlint.facts.flow import attachment, starving, terms
from trainlint.facts.training import Training
from trainlint.facts.values import constant
from trainlint.finding import Because, Finding
from trainlint.rule import rule

MESSAGE = (
    "requires_grad is switched on for a loss that has lost its graph: `backward()` then runs without complaint, and "
    "reaches no parameter. Remove this, and keep the graph."
)


@rule(Training, level="error")
def check(training: Training) -> Iterator[Finding]:
    for backward in training.events(Backward):
        start = Because(backward.at, "the gradient starts here")
        for cut in starving(backward.loss):
            if constant(cut.options.get("requires_grad")) is True and cut.at is not None:
                yield Finding(cut.at, MESSAGE, (start,))
        summands = {term.uid for term in terms(backward.loss)}
        for event in training.events(RequiresGrad):
            if event.target.uid not in summands or constant(event.wanted) is not True:
                continue
            found = attachment(event.target)
            cuts = tuple(
                Because(op.at, "the graph was cut here")
                for op in (*found.cuts, *found.unrecorded)
                if op.at is not None
            )
            if cuts:
                yield Finding(event.at, MESSAGE, (*cuts, start))
