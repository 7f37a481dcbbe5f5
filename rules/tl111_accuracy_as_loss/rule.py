from collections.abc import Iterator

from trainlint.facts.ask.attachment import attachment
from trainlint.facts.ask.evidence import of_cut
from trainlint.facts.ask.stops import is_compared, stopped
from trainlint.facts.model.events.parameters import RequiresGrad
from trainlint.facts.model.events.steps import Backward
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Op
from trainlint.finding import Because, Finding
from trainlint.rule import rule


@rule(Training, level="error")
def check(training: Training) -> Iterator[Finding]:
    patched = {event.target.uid for event in training.events(RequiresGrad)}
    backwards = training.events(Backward)
    learns = {_way(one) for one in backwards if attachment(one.loss).attached}
    for backward in backwards:
        is_sure = attachment(backward.loss).attached or _way(backward) not in learns
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
                        confidence=None if is_sure else "likely",
                        doubt="" if is_sure else "a condition chooses between it and a loss that learns",
                    )


def _way(backward: Backward) -> tuple[object, ...]:
    """What one of several losses of the same backward shares with the others: where it runs, and the loss module."""
    owner = backward.loss.owner if isinstance(backward.loss, Op) else None
    return backward.at, backward.calls, owner.uid if owner is not None else None
