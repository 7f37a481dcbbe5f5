"""Gradients that are switched off in one iteration of a loop, and are still off in the next."""

from __future__ import annotations

from collections.abc import Iterator

from trainlint.facts.model.events.parameters import GradSwitch
from trainlint.facts.model.events.steps import Backward
from trainlint.facts.model.training import Training


def left_off(training: Training) -> Iterator[tuple[GradSwitch, Backward]]:
    """Each switch after which nothing switches gradients on before the loop comes to its next backward pass."""
    if not any(one.records is False for one in training.events(GradSwitch)):
        return
    found: dict[int, tuple[GradSwitch, Backward, bool]] = {}
    for run in training.runs(GradSwitch, Backward):
        last: GradSwitch | None = None
        for event in run:
            if isinstance(event, GradSwitch):
                last = event
            elif isinstance(event, Backward) and last is not None and training.is_after(last, event):
                before = found.get(id(event))
                is_off = last.records is False and (before is None or before[2])
                found[id(event)] = (last, event, is_off)
    yield from ((switch, backward) for switch, backward, is_off in found.values() if is_off)
