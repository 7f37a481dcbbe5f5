from collections.abc import Iterator

from trainlint.facts.ask.attachment import attachment
from trainlint.facts.ask.evidence import of_cut
from trainlint.facts.ask.stops import is_compared, stopped
from trainlint.facts.model.events.parameters import RequiresGrad
from trainlint.facts.model.events.steps import Backward
from trainlint.facts.model.training import Training
from trainlint.finding import Because, Finding
from trainlint.rule import rule

_ALL = "the loss depends on the model in no other way: no parameter gets a gradient. Compute the loss"
_TERM = "this term of the loss depends on the model in no other way: it changes no parameter. Compute it"


@rule(Training, level="error")
def check(training: Training) -> Iterator[Finding]:
    patched = {event.target.uid for event in training.events(RequiresGrad)}
    backwards = training.events(Backward)
    said: set[object] = set()
    learns = {(one.at, one.calls) for one in backwards if attachment(one.loss).attached}
    for backward in backwards:
        if (backward.at, backward.calls) in learns and not attachment(backward.loss).attached:
            continue  # one of several outputs of a model: the prediction, not the loss
        for term, ends in stopped(backward.loss):
            if {term.uid, backward.loss.uid} & patched or is_compared(term):
                continue
            for end in ends:
                if end.at is not None and (backward.at, end.at[:2]) not in said:
                    said.add((backward.at, end.at[:2]))
                    is_all = not attachment(backward.loss).attached
                    yield Finding(
                        end.at,
                        f"`{end.text or end.name}` is not differentiable, and {_ALL if is_all else _TERM} "
                        "from the scores before this operation.",
                        (Because(backward.at, "the loss is computed here"),),
                        level="error" if is_all else "warning",
                        evidence=of_cut(training, end),
                    )
