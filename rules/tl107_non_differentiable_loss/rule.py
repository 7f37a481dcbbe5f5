from collections.abc import Iterator

from trainlint.facts.ask.attachment import attachment
from trainlint.facts.ask.evidence import of_cut
from trainlint.facts.ask.stops import is_compared, stopped
from trainlint.facts.model.events.parameters import RequiresGrad
from trainlint.facts.model.events.steps import Backward
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.model.training import Training
from trainlint.finding import Because, Finding, not_shown_by_runs
from trainlint.rule import rule

from .chosen import only_choosing
from .straight_through import cancelled

_ALL = "the loss depends on the model in no other way: no parameter gets a gradient. Compute the loss"
_TERM = "this term of the loss depends on the model in no other way: it changes no parameter. Compute it"


@rule(Training, level="error", confidence="likely", words="argmin one_hot")
def check(training: Training) -> Iterator[Finding]:
    if not isinstance(training, Recorded):
        yield from not_shown_by_runs(_untrained(training))
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


def _untrained(training: Training) -> Iterator[Finding]:
    """Parts of a model that no gradient gets to, because what follows only chooses by them."""
    for estimator, choice in cancelled(training):
        if estimator.at is not None:
            yield Finding(
                estimator.at,
                f"What is added here is taken away again, so no gradient passes `{choice.text or choice.name}`, and what it "
                "chose by is not trained by what follows. Detach the difference, as in `z + (q - z).detach()`.",
                (Because(choice.at, "no gradient passes here"),) if choice.at is not None else (),
            )
    for choice, call in only_choosing(training):
        if choice.at is not None:
            yield Finding(
                choice.at,
                "The model only chooses by these scores, and nothing else is made of them, so the layer that gives them gets "
                "no gradient and never learns. Weigh what was chosen by its score.",
                (Because(call.at, "the layer that gives the scores"),) if call.at is not None else (),
                confidence="likely",
                doubt="the layer may be trained by other means",
            )
