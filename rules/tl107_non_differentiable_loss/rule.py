from collections.abc import Iterator

from trainlint.facts.ask.attachment import attachment
from trainlint.facts.ask.evidence import of_cut
from trainlint.facts.ask.stops import is_compared, stopped
from trainlint.facts.model.events import Backward, RequiresGrad
from trainlint.facts.model.training import Training
from trainlint.finding import Because, Finding
from trainlint.rule import rule


@rule(Training, level="error")
def check(training: Training) -> Iterator[Finding]:
    patched = {event.target.uid for event in training.events(RequiresGrad)}
    backwards = training.events(Backward)
    learns = {(one.at, one.calls) for one in backwards if attachment(one.loss).attached}
    for backward in backwards:
        if (backward.at, backward.calls) in learns and not attachment(backward.loss).attached:
            continue  # of what a model may give, this is its answer where no loss is asked for
        for term, ends in stopped(backward.loss):
            if {term.uid, backward.loss.uid} & patched or is_compared(term):
                continue
            for end in ends:
                if end.at is not None:
                    yield Finding(
                        end.at,
                        f"`{end.text or end.name}` has no gradient, and nothing else ties this loss to the model: no "
                        "parameter can learn from it. Put the loss on the scores that this is made from.",
                        (Because(backward.at, "the gradient starts here"),),
                        evidence=of_cut(training, end),
                    )
