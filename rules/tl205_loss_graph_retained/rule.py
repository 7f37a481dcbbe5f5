from collections.abc import Iterator

from trainlint.facts.events import Accumulated, Backward
from trainlint.facts.evidence import of_sum
from trainlint.facts.flow import attachment, is_made_of, is_recurrence
from trainlint.facts.training import Training
from trainlint.facts.values import Op
from trainlint.finding import Finding
from trainlint.rule import rule


@rule(Training, level="warning")
def check(training: Training) -> Iterator[Finding]:
    trained_on = [backward.loss for backward in training.events(Backward)]
    returned = [event.value for event in training.handed_out()]
    for event in training.events(Accumulated):
        if not (isinstance(event.result, Op) and event.result.records):
            continue
        found = attachment(event.value)
        if not found.attached or found.uncertain or is_recurrence(event):
            continue
        if not any(is_made_of(loss, event.result, with_graph=True) for loss in (*trained_on, *returned)):
            yield Finding(
                event.at,
                f"`{event.total}` keeps the graph of every round's loss alive, so memory grows with each one. "
                "Add `.item()` or `.detach()`.",
                evidence=of_sum(training, event),
            )
