"""Outputs of a model that are joined to one tensor over all batches, with their graphs."""

from __future__ import annotations

from collections.abc import Iterator

from trainlint.facts.ask.attachment import attachment, has_graph
from trainlint.facts.ask.flow import is_made_of
from trainlint.facts.model.events.losses import Joined
from trainlint.facts.model.events.steps import Backward
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Value
from trainlint.finding import Finding


def joined(training: Training, needed: list[Value]) -> Iterator[Finding]:
    """`scores = torch.cat((scores, out))` beside a backward pass on every batch, where nothing is trained on the whole."""
    if training.is_test:
        return
    backwards = {one.loops for one in training.events(Backward)}
    for event in training.events(Joined):
        if event.loops not in backwards or event.before.back is not event.result:
            continue  # cut off, or begun anew, now and then
        found = attachment(event.value)
        if not found.attached or found.uncertain or not has_graph(event.value):
            continue
        if is_made_of(event.value, event.before):
            continue
        whole = (event.before, event.before.start, event.result)
        if not any(is_made_of(one, each, with_graph=True) for one in needed for each in whole):
            yield Finding(
                event.at,
                f"`{event.total}` keeps the graph of every batch alive, so memory grows with each iteration. Join "
                "`.detach()` of the new part.",
                clues={"joined": True},
                is_shown_by_runs=False,
            )
